-- Device Sync by partitions, and the way from there to Flexible Sync and back.
--
-- By partitions a device's file holds the documents whose partition key has one value.

ALTER TABLE tidegate.sync_files ADD COLUMN partition text COLLATE "C";
COMMENT ON COLUMN tidegate.sync_files.partition IS
    'The value of the partition key that the file holds, as canonical Extended JSON; null in Flexible Sync.';

DROP FUNCTION tidegate.new_sync_file(text, bigint, text);
CREATE FUNCTION tidegate.new_sync_file(app text, new_salt bigint, user_id text, partition text DEFAULT NULL)
    RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    given bigint;
BEGIN
    UPDATE tidegate.sync_apps a SET last_file = a.last_file + 1 WHERE a.app = new_sync_file.app
        RETURNING a.last_file INTO given;
    INSERT INTO tidegate.sync_files (app, ident, salt, user_id, partition)
        VALUES (new_sync_file.app, given, new_salt, new_sync_file.user_id, new_sync_file.partition);
    RETURN given;
END
$$;
COMMENT ON FUNCTION tidegate.new_sync_file(text, bigint, text, text) IS
    'Gives a device''s new file its identifier; with the partition that it holds, as canonical Extended JSON.';

CREATE OR REPLACE VIEW tidegate.sync_clients AS
    SELECT p.client_app_id AS app, f.ident, f.user_id, f.client_version, f.acknowledged,
           a.version - f.acknowledged AS lag, f.query_version, f.created_at, f.seen_at,
           o.gateway, o.protocol, o.opened_at,
           CASE WHEN f.reset_reason IS NOT NULL THEN f.reset_reason
                WHEN f.acknowledged > 0 AND f.acknowledged < a.trimmed_to THEN 'it is older than the history' END AS must_reset,
           f.partition
    FROM tidegate.sync_files f JOIN tidegate.sync_apps a ON a.app = f.app JOIN tidegate.apps p ON p.id = f.app
    LEFT JOIN tidegate.sync_sessions o ON o.app = f.app AND o.ident = f.ident;
COMMENT ON VIEW tidegate.sync_clients IS
    'The files of devices: whose, how many versions behind, where it is open (null: nowhere), why it must begin anew, and its partition, if it holds one.';

CREATE FUNCTION tidegate.check_partition(config json) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    partition json := CASE WHEN json_typeof(config -> 'partition') <> 'null' THEN config -> 'partition' END;
    owner record;
BEGIN
    IF partition IS NULL THEN
        IF config ->> 'type' = 'partition' THEN
            PERFORM tidegate.refuse('config.partition', 'must name key and type of the partitions');
        END IF;
        RETURN;
    END IF;
    PERFORM tidegate.check_keys('config.partition', partition, ARRAY['key', 'type', 'required', 'permissions']);
    PERFORM tidegate.check_each('config.partition', partition, ARRAY['key', 'type'], ARRAY['string']);
    PERFORM tidegate.check_types('config.partition', partition, 'required', ARRAY['boolean']);
    IF coalesce(partition ->> 'key', '') = '' THEN
        PERFORM tidegate.refuse('config.partition.key', 'is required');
    ELSIF partition ->> 'key' ~ '^\$|\.|^_id$' THEN
        PERFORM tidegate.refuse('config.partition.key', 'must be a field of documents, without a dot, and not _id');
    ELSIF coalesce(partition ->> 'type', 'string') NOT IN ('string', 'objectId', 'long', 'uuid') THEN
        PERFORM tidegate.refuse('config.partition.type', 'must be string, objectId, long or uuid');
    END IF;
    FOR owner IN SELECT * FROM (VALUES ('config.partition', partition), ('config', config)) AS o (field, value) LOOP
        PERFORM tidegate.check_types(owner.field, owner.value, 'permissions', ARRAY['object', 'null']);
        CONTINUE WHEN json_typeof(owner.value -> 'permissions') IS DISTINCT FROM 'object';
        PERFORM tidegate.check_keys(owner.field || '.permissions', owner.value -> 'permissions', ARRAY['read', 'write']);
        PERFORM tidegate.check_each(owner.field || '.permissions', owner.value -> 'permissions', ARRAY['read', 'write'],
                                    ARRAY['boolean', 'object', 'null']);
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.check_partition(json) IS
    'Error 22023 for settings of sync whose partition could not be in force, naming the field.';

ALTER FUNCTION tidegate.set_sync(text, anycompatible) RENAME TO put_sync;
COMMENT ON FUNCTION tidegate.put_sync(text, anycompatible) IS 'What set_sync does with settings whose partition is in order; null removes the row.';
REVOKE ALL ON FUNCTION tidegate.put_sync(text, anycompatible) FROM tidegate_admin;
CREATE FUNCTION tidegate.set_sync(app text, config anycompatible) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF config IS NOT NULL THEN
        PERFORM tidegate.check_partition(tidegate.read_object('config', config::text));
    END IF;
    PERFORM tidegate.put_sync(app, config);
EXCEPTION
    WHEN statement_too_complex THEN PERFORM tidegate.refuse('config', 'is nested too deeply');
    WHEN untranslatable_character THEN PERFORM tidegate.refuse('config', 'must not hold the character U+0000');
END
$$;
COMMENT ON FUNCTION tidegate.set_sync(text, anycompatible) IS
    'Sets up sync: {"type": "flexible", "state": "enabled", "service_name": ..., "queryable_fields_names": [...]} as in sync/config.json, by partitions with {"type": "partition", "partition": {"key": ..., "type": ..., "permissions": {...}}}; null removes it.';

-- From partitions to Flexible Sync ----------------------------------------------------------------------
-- The settings keep how documents were parted: by that gateways know what files of a partition are to become.

CREATE TABLE tidegate.sync_migrations (
    app         text PRIMARY KEY REFERENCES tidegate.apps ON DELETE CASCADE,
    data_source text NOT NULL,
    settings    json NOT NULL,
    default_rule json,
    rules       json NOT NULL,
    migrated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE tidegate.sync_migrations IS
    'What apps were before they were migrated to Flexible Sync, until that is reverted or committed.';

CREATE FUNCTION tidegate.part_rule(expression jsonb, key text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    member record;
    translated jsonb;
    members jsonb := '[]';
BEGIN
    IF expression IS NULL OR jsonb_typeof(expression) = 'null' THEN
        RETURN 'false';
    ELSIF jsonb_typeof(expression) <> 'object' THEN
        RETURN expression;
    END IF;
    FOR member IN SELECT * FROM jsonb_each(expression) AS e (name, value) LOOP
        IF member.name IN ('%and', '%or', '%nor', '$and', '$or', '$nor') AND jsonb_typeof(member.value) = 'array' THEN
            SELECT jsonb_build_object(member.name, coalesce(jsonb_agg(tidegate.part_rule(x.value, key) ORDER BY x.place), '[]'))
                INTO translated FROM jsonb_array_elements(member.value) WITH ORDINALITY AS x (value, place);
        ELSIF member.name IN ('%not', '$not') THEN
            translated := jsonb_build_object(member.name, tidegate.part_rule(member.value, key));
        ELSIF member.name = '%function' OR strpos(member.value::text, '"%function"') > 0 THEN
            PERFORM tidegate.refuse('app', 'has permissions of partitions that ask functions, which roles of Flexible Sync cannot');
        ELSIF member.name = '%%partition' THEN
            translated := jsonb_build_object(key, member.value);
        ELSIF member.value = '"%%partition"' AND member.name LIKE '\%\%%' THEN
            -- Of an array, one of its elements.
            translated := jsonb_build_object(key, member.name);
        ELSE
            translated := jsonb_build_object(
                member.name, replace(member.value::text, '"%%partition"', to_jsonb('%%root.' || key)::text)::jsonb);
        END IF;
        members := members || jsonb_build_array(translated);
    END LOOP;
    RETURN CASE jsonb_array_length(members) WHEN 0 THEN expression WHEN 1 THEN members -> 0
                ELSE jsonb_build_object('%and', members) END;
END
$$;
COMMENT ON FUNCTION tidegate.part_rule(jsonb, text) IS
    'A permission of partitions as a filter of documents: the partition becomes the field by which documents are parted.';

CREATE FUNCTION tidegate.migrate_to_flexible_sync(app text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    found_app text := tidegate.app_id(migrate_to_flexible_sync.app);
    old jsonb;
    key text;
    source text;
    role jsonb;
    place record;
BEGIN
    SELECT s.config::jsonb INTO old FROM tidegate.settings s WHERE s.app = found_app AND s.name = 'sync' FOR UPDATE;
    key := old -> 'partition' ->> 'key';
    IF old IS NULL OR old ->> 'type' IS DISTINCT FROM 'partition' OR key IS NULL THEN
        PERFORM tidegate.refuse('app', 'does not sync by partitions');
    END IF;
    source := coalesce(old ->> 'service_name', (
        SELECT min(d.name) FROM tidegate.data_sources d WHERE d.app = found_app));
    role := jsonb_build_object(
        'name', 'partition', 'apply_when', '{}'::jsonb, 'read', true, 'write', true, 'insert', true, 'delete', true,
        'search', true, 'document_filters', jsonb_build_object(
            'read', tidegate.part_rule(coalesce(old -> 'partition' -> 'permissions', old -> 'permissions') -> 'read', key),
            'write', tidegate.part_rule(coalesce(old -> 'partition' -> 'permissions', old -> 'permissions') -> 'write', key)));
    INSERT INTO tidegate.sync_migrations (app, data_source, settings, default_rule, rules)
        SELECT found_app, source, old::json, d.default_rule, (
            SELECT coalesce(json_agg(json_build_object('database', r.database, 'collection', r.collection, 'rules', r.rules,
                                                       'schema', r.schema)), '[]')
            FROM tidegate.collection_rules r WHERE r.app = found_app AND r.data_source = source)
        FROM tidegate.data_sources d WHERE d.app = found_app AND d.name = source;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse_missing('service_name', source);
    END IF;
    -- The history ends as by terminate_sync: every device begins anew, as what it is then.
    PERFORM tidegate.terminate_sync(found_app);
    UPDATE tidegate.data_sources d SET default_rule = jsonb_build_object('roles', jsonb_build_array(role))::json
        WHERE d.app = found_app AND d.name = source;
    UPDATE tidegate.collection_rules r SET rules = NULL
        WHERE r.app = found_app AND r.data_source = source AND r.rules IS NOT NULL;
    -- A query of the key needs the field in every class.
    FOR place IN UPDATE tidegate.collection_rules r
        SET schema = jsonb_set(r.schema::jsonb, ARRAY['properties', key],
                               jsonb_build_object('bsonType', coalesce(old -> 'partition' ->> 'type', 'string')))::json
        WHERE r.app = found_app AND r.data_source = source AND r.schema ->> 'title' IS NOT NULL
          AND json_typeof(r.schema -> 'properties') = 'object' AND r.schema -> 'properties' -> key IS NULL
        RETURNING r.database, r.collection
    LOOP
        PERFORM tidegate.promote_configured(found_app, source, place.database, place.collection);
    END LOOP;
    UPDATE tidegate.settings s SET config = (
            old - 'permissions' || jsonb_build_object(
                'type', 'flexible', 'client_max_offline_days', 30,
                'queryable_fields_names', coalesce(old -> 'queryable_fields_names', '[]') || to_jsonb(key)))::json
        WHERE s.app = found_app AND s.name = 'sync';
END
$$;
COMMENT ON FUNCTION tidegate.migrate_to_flexible_sync(text) IS
    'Makes an app that syncs by partitions one of Flexible Sync: the permissions become a role in place of the rules, devices of partitions change over by themselves. revert_to_partition_sync undoes it, commit_flexible_sync makes it final.';

CREATE FUNCTION tidegate.revert_to_partition_sync(app text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    found_app text := tidegate.app_id(revert_to_partition_sync.app);
    kept record;
BEGIN
    SELECT * INTO kept FROM tidegate.sync_migrations m WHERE m.app = found_app FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('app', 'was not migrated to Flexible Sync, or that was committed');
    END IF;
    PERFORM tidegate.terminate_sync(found_app);
    UPDATE tidegate.data_sources d SET default_rule = kept.default_rule
        WHERE d.app = found_app AND d.name = kept.data_source;
    UPDATE tidegate.collection_rules r SET rules = nullif((k.value -> 'rules')::text, 'null')::json,
            schema = nullif((k.value -> 'schema')::text, 'null')::json
        FROM json_array_elements(kept.rules) AS k (value)
        WHERE r.app = found_app AND r.data_source = kept.data_source AND r.database = k.value ->> 'database'
          AND r.collection = k.value ->> 'collection';
    UPDATE tidegate.settings s SET config = kept.settings WHERE s.app = found_app AND s.name = 'sync';
    DELETE FROM tidegate.sync_migrations m WHERE m.app = found_app;
END
$$;
COMMENT ON FUNCTION tidegate.revert_to_partition_sync(text) IS
    'Takes migrate_to_flexible_sync back: settings, rules and schemas as they were, and devices that had changed over change back by themselves.';

CREATE FUNCTION tidegate.commit_flexible_sync(app text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    found_app text := tidegate.app_id(commit_flexible_sync.app);
BEGIN
    DELETE FROM tidegate.sync_migrations m WHERE m.app = found_app;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('app', 'was not migrated to Flexible Sync, or that was committed');
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.commit_flexible_sync(text) IS
    'Forgets what an app was before migrate_to_flexible_sync; devices of partitions go on changing over.';

-- Development mode --------------------------------------------------------------------------------------
-- Devices add to the schemas of an app, and to the fields that queries may name.

CREATE FUNCTION tidegate.check_development(app text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM tidegate.settings s WHERE s.app = check_development.app AND s.name = 'sync'
                   AND s.config ->> 'development_mode_enabled' = 'true') THEN
        PERFORM tidegate.refuse('app', 'is not in development mode');
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_development(text) IS 'Refuses an app whose schemas devices may not change.';

CREATE FUNCTION tidegate.grow_sync_schema(
    app text, source text, database text, collection text, schema text, relationships text, is_asymmetric boolean
) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM tidegate.check_development(grow_sync_schema.app);
    INSERT INTO tidegate.collection_rules AS c (app, data_source, database, collection, schema, relationships)
        VALUES (grow_sync_schema.app, grow_sync_schema.source, grow_sync_schema.database, grow_sync_schema.collection,
                grow_sync_schema.schema::json, nullif(grow_sync_schema.relationships, '{}')::json)
        ON CONFLICT ON CONSTRAINT collection_rules_pkey
            DO UPDATE SET schema = excluded.schema, relationships = excluded.relationships;
    IF grow_sync_schema.is_asymmetric THEN
        UPDATE tidegate.settings s SET config = jsonb_set(s.config::jsonb, '{asymmetric_tables}',
                coalesce(nullif(s.config::jsonb -> 'asymmetric_tables', 'null'), '[]')
                    || jsonb_build_array(grow_sync_schema.schema::jsonb -> 'title'))::json
            WHERE s.app = grow_sync_schema.app AND s.name = 'sync'
              AND NOT coalesce(s.config::jsonb -> 'asymmetric_tables' @> (grow_sync_schema.schema::jsonb -> 'title'), false);
    END IF;
    PERFORM tidegate.ensure_collection(grow_sync_schema.database, grow_sync_schema.collection);
    PERFORM tidegate.promote_configured(grow_sync_schema.app, grow_sync_schema.source, grow_sync_schema.database,
                                        grow_sync_schema.collection);
END
$$;
COMMENT ON FUNCTION tidegate.grow_sync_schema(text, text, text, text, text, text, boolean) IS
    'For the gateway: the schema of a collection as a device has added to it, in development mode.';

CREATE FUNCTION tidegate.grow_queryable_fields(app text, collection text, fields text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM tidegate.check_development(grow_queryable_fields.app);
    UPDATE tidegate.settings s SET config = jsonb_set(
            s.config::jsonb || jsonb_build_object('collection_queryable_fields_names', coalesce(
                nullif(s.config::jsonb -> 'collection_queryable_fields_names', 'null'), '{}')),
            ARRAY['collection_queryable_fields_names', grow_queryable_fields.collection],
            (SELECT jsonb_agg(DISTINCT f.name) FROM (
                SELECT jsonb_array_elements_text(coalesce(
                    s.config::jsonb #> ARRAY['collection_queryable_fields_names', grow_queryable_fields.collection], '[]'))
                UNION SELECT unnest(grow_queryable_fields.fields)) AS f (name)))::json
        WHERE s.app = grow_queryable_fields.app AND s.name = 'sync';
END
$$;
COMMENT ON FUNCTION tidegate.grow_queryable_fields(text, text, text[]) IS
    'For the gateway: fields of a collection that a device''s queries name, in development mode.';

-- Privileges --------------------------------------------------------------------------------------------

ALTER TABLE tidegate.sync_migrations OWNER TO tidegate_owner;
GRANT SELECT ON tidegate.sync_migrations TO tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('new_sync_file', 'part_rule', 'migrate_to_flexible_sync', 'revert_to_partition_sync',
                            'commit_flexible_sync', 'check_partition', 'set_sync', 'check_development', 'grow_sync_schema', 'grow_queryable_fields')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short IN ('new_sync_file', 'grow_sync_schema', 'grow_queryable_fields') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        ELSIF object.short NOT IN ('part_rule', 'check_partition', 'check_development') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
    END LOOP;
END
$$;
