-- Names and sizes of values and secrets are held to their limits; a collection can get another name.

-- Values and secrets ------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.check_value_name(name text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.check_name('name', name, 64);
    IF name !~ '^[A-Za-z0-9_-]+$' THEN
        PERFORM tidegate.refuse('name', 'may hold only letters, digits, _ and -');
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_value_name(text) IS 'Error 22023 for a name that %%values.<name> cannot have.';

-- What was stored before stays, whatever its name, and can be removed.
DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT p.oid, p.proname AS short, pg_get_functiondef(p.oid) AS definition FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('set_value', 'set_value_from_secret', 'set_secret')
    LOOP
        IF object.short = 'set_secret' THEN
            EXECUTE replace(object.definition, 'ELSIF value = '''' THEN',
                'ELSIF length(value) > 16384 THEN
        PERFORM tidegate.refuse(''value'', ''must not be longer than 16384 characters'');
    ELSIF value = '''' THEN');
        ELSE
            EXECUTE replace(object.definition, 'PERFORM tidegate.check_name(''name'', name, 64);',
                CASE object.short WHEN 'set_value'
                THEN 'PERFORM tidegate.check_name(''name'', name, 64);
    IF value IS NOT NULL THEN PERFORM tidegate.check_value_name(name); END IF;
    IF octet_length(value::text) > 16777216 THEN
        PERFORM tidegate.refuse(''value'', ''must not be longer than 16777216 bytes'');
    END IF;'
                ELSE 'PERFORM tidegate.check_value_name(name);' END);
        END IF;
    END LOOP;
END
$$;

-- Another name for a collection -------------------------------------------------------------------------

CREATE FUNCTION tidegate.rename_collection(database text, collection text, new_name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer := tidegate.collection_id(database, collection);
    entry tidegate.collections;
    listener text;
    new_table text;
    old_key text;
    new_key text;
BEGIN
    PERFORM tidegate.refuse_mapped(database, collection);
    PERFORM tidegate.check_name('new_name', new_name, 255);
    IF new_name ~ '\$' THEN
        PERFORM tidegate.refuse('new_name', 'must not contain $');
    END IF;
    -- Whoever makes a collection holds this lock.
    PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.collections', 0));
    IF EXISTS (SELECT FROM tidegate.collections c
               WHERE c.database = rename_collection.database AND c.collection = new_name) THEN
        PERFORM tidegate.refuse('new_name', format('there is a collection %L', new_name));
    END IF;
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target FOR UPDATE;
    FOREACH listener IN ARRAY entry.listeners LOOP
        IF listener IN ('trigger', 'sync') THEN
            PERFORM tidegate.refuse('collection', format('%L has a %s, which knows it by its name', collection,
                CASE listener WHEN 'trigger' THEN 'database trigger' ELSE 'synced class' END));
        END IF;
    END LOOP;
    new_table := tidegate.safe_name(new_name, false);
    EXECUTE format('LOCK TABLE %I.%I IN ACCESS EXCLUSIVE MODE', entry.schema_name, entry.table_name);
    EXECUTE format('DROP VIEW IF EXISTS tidegate_views.%I', tidegate.view_name(entry.database, entry.collection));
    EXECUTE format('ALTER TABLE %I.%I RENAME TO %I', entry.schema_name, entry.table_name, new_table);
    -- A collection of the old name will want this one's name for its key, and gateways know keys by their ending.
    SELECT k.conname INTO old_key FROM pg_constraint k
        WHERE k.conrelid = format('%I.%I', entry.schema_name, new_table)::regclass AND k.contype = 'p';
    new_key := left(new_table, 14) || '_' || md5(target || ':' || new_table) || '_pkey';
    EXECUTE format('ALTER TABLE %I.%I RENAME CONSTRAINT %I TO %I', entry.schema_name, new_table, old_key, new_key);
    EXECUTE format('COMMENT ON TABLE %I.%I IS %L', entry.schema_name, new_table,
        'Documents of ' || entry.database || '.' || new_name);
    UPDATE tidegate.collections c SET collection = new_name, table_name = new_table WHERE c.id = target;
    PERFORM tidegate.build_view(target);
    IF 'watch' = ANY (entry.listeners) THEN
        -- Nobody watches it by this name yet: its changes are logged for as long as after a last watch.
        INSERT INTO tidegate.watched AS w (database, collection) VALUES (entry.database, new_name)
            ON CONFLICT ON CONSTRAINT watched_pkey DO UPDATE SET watched_at = clock_timestamp();
    END IF;
    PERFORM pg_notify('tidegate_collections', target::text);
END
$$;
COMMENT ON FUNCTION tidegate.rename_collection(text, text, text) IS
    'Gives a collection another name, with its documents and indexes. Rules and schemas of apps stay with the old name; watches of it end with the event rename.';

-- Privileges --------------------------------------------------------------------------------------------

ALTER FUNCTION tidegate.check_value_name(text) OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.rename_collection(text, text, text) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.check_value_name(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION tidegate.rename_collection(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.rename_collection(text, text, text) TO tidegate_admin;
