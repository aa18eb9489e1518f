-- Device Sync: versions of an app's schemas. A breaking change makes the next one; devices that say an earlier one keep
-- the schemas that it had.

CREATE TABLE tidegate.sync_schemas (
    app     text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    version bigint NOT NULL CHECK (version >= 0),
    schemas json NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, version)
);
COMMENT ON TABLE tidegate.sync_schemas IS
    'The versions of an app''s schemas that devices may say. The newest is as the app''s schemas are; the others are as they were last.';

ALTER TABLE tidegate.sync_files ADD COLUMN schema_version bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN tidegate.sync_files.schema_version IS 'The version of the schemas that the file is made with.';
ALTER TABLE tidegate.sync_history ADD COLUMN schema_version bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN tidegate.sync_history.schema_version IS 'The version of the schemas in whose words the changeset is.';

DROP FUNCTION tidegate.new_sync_file(text, bigint, text, text);
CREATE FUNCTION tidegate.new_sync_file(
    app text, new_salt bigint, user_id text, partition text, schema_version bigint
) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    given bigint;
BEGIN
    UPDATE tidegate.sync_apps a SET last_file = a.last_file + 1 WHERE a.app = new_sync_file.app
        RETURNING a.last_file INTO given;
    INSERT INTO tidegate.sync_files (app, ident, salt, user_id, partition, schema_version)
        VALUES (new_sync_file.app, given, new_salt, new_sync_file.user_id, new_sync_file.partition,
                new_sync_file.schema_version);
    RETURN given;
END
$$;
COMMENT ON FUNCTION tidegate.new_sync_file(text, bigint, text, text, bigint) IS
    'Gives a device''s new file its identifier; with the partition that it holds, as canonical Extended JSON, and the version of the schemas.';

CREATE FUNCTION tidegate.present_schemas(app text) RETURNS json
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT coalesce(json_agg(json_build_object('data_source', r.data_source, 'database', r.database,
                     'collection', r.collection, 'schema', r.schema, 'relationships', r.relationships)
                     ORDER BY r.data_source COLLATE "C", r.database COLLATE "C", r.collection COLLATE "C"), '[]')
          FROM tidegate.collection_rules r WHERE r.app = present_schemas.app AND r.schema::text <> '{}' $$;
COMMENT ON FUNCTION tidegate.present_schemas(text) IS 'The schemas of an app, given by its internal id, as sync_schemas keeps them.';

CREATE FUNCTION tidegate.keep_sync_schemas(app text, configuration bigint, newest bigint, is_breaking boolean)
    RETURNS TABLE (version bigint, schemas text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    present json;
    last bigint;
BEGIN
    -- Two gateways see a change at once, and one may see it late.
    PERFORM FROM tidegate.apps a WHERE a.id = keep_sync_schemas.app AND a.version = configuration FOR NO KEY UPDATE;
    IF FOUND THEN
        SELECT max(s.version) INTO last FROM tidegate.sync_schemas s WHERE s.app = keep_sync_schemas.app;
        present := tidegate.present_schemas(keep_sync_schemas.app);
        IF last IS NULL THEN
            INSERT INTO tidegate.sync_schemas (app, version, schemas) VALUES (keep_sync_schemas.app, 0, present);
        ELSIF last = newest AND is_breaking AND EXISTS (
            SELECT FROM tidegate.sync_files f WHERE f.app = keep_sync_schemas.app AND f.schema_version = last
        ) THEN
            INSERT INTO tidegate.sync_schemas (app, version, schemas) VALUES (keep_sync_schemas.app, last + 1, present);
        ELSIF last = newest THEN
            UPDATE tidegate.sync_schemas s SET schemas = present
                WHERE s.app = keep_sync_schemas.app AND s.version = last AND s.schemas::text <> present::text;
        END IF;
    END IF;
    RETURN QUERY SELECT s.version, s.schemas::text FROM tidegate.sync_schemas s WHERE s.app = keep_sync_schemas.app
        ORDER BY s.version;
END
$$;
COMMENT ON FUNCTION tidegate.keep_sync_schemas(text, bigint, bigint, boolean) IS
    'For the gateway: keeps the schemas of an app, if its configuration is still the given one, as a version of their own where they break with the newest that devices have; returns all versions.';

CREATE FUNCTION tidegate.set_schema_version(app text, version bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    found_app text := tidegate.app_id(set_schema_version.app);
    newest bigint;
BEGIN
    IF set_schema_version.version IS NULL OR set_schema_version.version NOT BETWEEN 0 AND 9007199254740991 THEN
        PERFORM tidegate.refuse('version', 'must be a number from 0 on');
    END IF;
    PERFORM FROM tidegate.apps a WHERE a.id = found_app FOR NO KEY UPDATE;
    SELECT max(s.version) INTO newest FROM tidegate.sync_schemas s WHERE s.app = found_app;
    IF set_schema_version.version < newest THEN
        PERFORM tidegate.refuse('version', format('must not be lower than the newest, which is %s', newest));
    ELSIF set_schema_version.version = newest THEN
        RETURN;
    END IF;
    INSERT INTO tidegate.sync_schemas (app, version, schemas)
        VALUES (found_app, set_schema_version.version, tidegate.present_schemas(found_app));
    -- Gateways read the versions with the app.
    UPDATE tidegate.apps a SET version = a.version + 1 WHERE a.id = found_app;
END
$$;
COMMENT ON FUNCTION tidegate.set_schema_version(text, bigint) IS
    'Says which version the schemas of an app are from now on, as its devices'' schemaVersion has it: of an app that had versions elsewhere. What was the newest until now stays served as it is.';

CREATE FUNCTION tidegate.drop_schema_version(app text, version bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    found_app text := tidegate.app_id(drop_schema_version.app);
BEGIN
    PERFORM FROM tidegate.apps a WHERE a.id = found_app FOR NO KEY UPDATE;
    IF drop_schema_version.version >= (SELECT max(s.version) FROM tidegate.sync_schemas s WHERE s.app = found_app) THEN
        PERFORM tidegate.refuse('version', 'must not be the newest');
    END IF;
    DELETE FROM tidegate.sync_schemas s WHERE s.app = found_app AND s.version = drop_schema_version.version;
    IF NOT FOUND THEN PERFORM tidegate.refuse_missing('version', drop_schema_version.version::text); END IF;
    UPDATE tidegate.apps a SET version = a.version + 1 WHERE a.id = found_app;
END
$$;
COMMENT ON FUNCTION tidegate.drop_schema_version(text, bigint) IS
    'Ends a version of the schemas: devices that say it get error 235, and the files of those that say another begin anew.';

CREATE FUNCTION tidegate.forget_schema_versions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM tidegate.sync_schemas s WHERE s.app = OLD.app
        AND s.version < (SELECT max(n.version) FROM tidegate.sync_schemas n WHERE n.app = OLD.app);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.forget_schema_versions() IS
    'Trigger: with the history of an app go the earlier versions of its schemas, since no file is left; the newest keeps its number, which devices know.';
CREATE TRIGGER forget_schema_versions AFTER DELETE ON tidegate.sync_apps
    FOR EACH ROW EXECUTE FUNCTION tidegate.forget_schema_versions();

CREATE VIEW tidegate.sync_schema_versions AS
    SELECT p.client_app_id AS app, s.version, s.version = max(s.version) OVER (PARTITION BY s.app) AS is_newest,
           (SELECT count(*) FROM tidegate.sync_files f WHERE f.app = s.app AND f.schema_version = s.version) AS files,
           s.made_at, s.schemas
    FROM tidegate.sync_schemas s JOIN tidegate.apps p ON p.id = s.app;
COMMENT ON VIEW tidegate.sync_schema_versions IS
    'The versions of apps'' schemas that devices may say as schemaVersion, and how many files are of each.';

-- Privileges --------------------------------------------------------------------------------------------

ALTER TABLE tidegate.sync_schemas OWNER TO tidegate_owner;
ALTER VIEW tidegate.sync_schema_versions OWNER TO tidegate_owner;
GRANT SELECT ON tidegate.sync_schemas TO tidegate_gateway;
GRANT SELECT ON tidegate.sync_schemas, tidegate.sync_schema_versions TO tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('new_sync_file', 'present_schemas', 'keep_sync_schemas', 'set_schema_version',
                            'drop_schema_version', 'forget_schema_versions')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short IN ('new_sync_file', 'keep_sync_schemas') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        ELSIF object.short IN ('set_schema_version', 'drop_schema_version') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
    END LOOP;
END
$$;
