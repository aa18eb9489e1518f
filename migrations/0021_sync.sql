-- Device Sync: the history of each app, the files of its devices, and what of the change log is not yet in history.

CREATE TABLE tidegate.sync_apps (
    app        text PRIMARY KEY REFERENCES tidegate.apps ON DELETE CASCADE,
    salt       bigint NOT NULL CHECK (salt > 0),
    version    bigint NOT NULL DEFAULT 1 CHECK (version > 0),
    last_file  bigint NOT NULL DEFAULT 1,
    trimmed_to bigint NOT NULL DEFAULT 0,
    started_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE tidegate.sync_apps IS
    'Apps whose devices sync: the newest version of the history, the salt of its epoch, the last identifier given. Whoever adds a version holds the row.';

CREATE TABLE tidegate.sync_files (
    app            text NOT NULL REFERENCES tidegate.sync_apps ON DELETE CASCADE,
    ident          bigint NOT NULL CHECK (ident > 1),
    salt           bigint NOT NULL CHECK (salt > 0),
    user_id        text NOT NULL,
    client_version bigint NOT NULL DEFAULT 0,
    server_version bigint NOT NULL DEFAULT 0,
    acknowledged   bigint NOT NULL DEFAULT 0,
    locked         bigint NOT NULL DEFAULT 0,
    query_version  bigint NOT NULL DEFAULT 0,
    query          text COLLATE "C" NOT NULL DEFAULT '{}',
    permissions    text COLLATE "C",
    created_at     timestamptz NOT NULL DEFAULT now(),
    seen_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, ident)
);
COMMENT ON TABLE tidegate.sync_files IS
    'One row per file on a device: the last of its own versions that is integrated, the server version given with it, what it has acknowledged.';
COMMENT ON COLUMN tidegate.sync_files.permissions IS
    'A digest of what its user might do when it last connected; when that has changed, the device begins anew.';

CREATE TABLE tidegate.sync_history (
    app            text NOT NULL REFERENCES tidegate.sync_apps ON DELETE CASCADE,
    version        bigint NOT NULL,
    origin_file    bigint NOT NULL,
    client_version bigint NOT NULL DEFAULT 0,
    target_file    bigint,
    made_at        bigint NOT NULL,
    changeset      bytea COMPRESSION lz4 NOT NULL,
    rejections     jsonb,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (app, version)
);
COMMENT ON TABLE tidegate.sync_history IS 'What changed, version by version, as devices are told it.';
COMMENT ON COLUMN tidegate.sync_history.origin_file IS '1 for changes that no device made.';
COMMENT ON COLUMN tidegate.sync_history.target_file IS 'The only file that this is for: it undoes what that file was not allowed to write.';
COMMENT ON COLUMN tidegate.sync_history.made_at IS 'Milliseconds since 2015-01-01T00:00:00Z, by the clock of whoever made it.';

CREATE TABLE tidegate.sync_history_objects (
    app     text NOT NULL,
    version bigint NOT NULL,
    place   integer NOT NULL,
    class   text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    before  bytea COMPRESSION lz4,
    after   bytea COMPRESSION lz4,
    PRIMARY KEY (app, version, place),
    FOREIGN KEY (app, version) REFERENCES tidegate.sync_history ON DELETE CASCADE
);
COMMENT ON TABLE tidegate.sync_history_objects IS 'The documents that a version changed, before and after, as BSON.';

CREATE TABLE tidegate.sync_reciprocal (
    app       text NOT NULL,
    file      bigint NOT NULL,
    version   bigint NOT NULL,
    changeset bytea COMPRESSION lz4 NOT NULL,
    PRIMARY KEY (app, file, version),
    FOREIGN KEY (app, file) REFERENCES tidegate.sync_files (app, ident) ON DELETE CASCADE
);
COMMENT ON TABLE tidegate.sync_reciprocal IS
    'Versions as a file''s next changes must meet them: transformed by changes that the file had made without knowing them.';

CREATE TABLE tidegate.sync_collections (
    app           text NOT NULL REFERENCES tidegate.sync_apps ON DELETE CASCADE,
    collection_id integer NOT NULL REFERENCES tidegate.collections ON DELETE CASCADE,
    PRIMARY KEY (collection_id, app)
);
COMMENT ON TABLE tidegate.sync_collections IS 'Collections that devices of an app hold: each change of them becomes a part of its history.';

CREATE TABLE tidegate.sync_pending (
    app           text NOT NULL,
    seq           bigint NOT NULL,
    collection_id integer NOT NULL,
    PRIMARY KEY (app, seq)
);
COMMENT ON TABLE tidegate.sync_pending IS 'Changes of the log that are not in an app''s history yet.';

CREATE FUNCTION tidegate.queue_sync() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- What a device of an app wrote is in that app's history by the same transaction.
    INSERT INTO tidegate.sync_pending (app, seq, collection_id)
        SELECT s.app, NEW.seq, NEW.collection_id FROM tidegate.sync_collections s
        WHERE s.collection_id = NEW.collection_id AND NEW.origin IS DISTINCT FROM 'sync:' || s.app;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.queue_sync() IS 'Notes a logged change for the history of each app that syncs the collection.';

CREATE TRIGGER tidegate_queue_sync AFTER INSERT ON tidegate.changes
    FOR EACH ROW EXECUTE FUNCTION tidegate.queue_sync();

-- What gateways do --------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.begin_sync(app text, new_salt bigint, databases text[], collections text[])
    RETURNS TABLE (salt bigint, version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    place record;
    found_id integer;
BEGIN
    INSERT INTO tidegate.sync_apps AS a (app, salt) VALUES (begin_sync.app, new_salt) ON CONFLICT (app) DO NOTHING;
    FOR place IN SELECT * FROM unnest(databases, collections) AS n (d, c) ORDER BY 1, 2 LOOP
        SELECT c.id INTO found_id FROM tidegate.collections c
            WHERE c.database = place.d AND c.collection = place.c AND 'sync' = ANY (c.listeners);
        IF NOT FOUND THEN
            PERFORM tidegate.set_listener(place.d, place.c, 'sync', true);
            SELECT c.id INTO found_id FROM tidegate.collections c
                WHERE c.database = place.d AND c.collection = place.c;
        END IF;
        INSERT INTO tidegate.sync_collections (app, collection_id) VALUES (begin_sync.app, found_id)
            ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN QUERY SELECT a.salt, a.version FROM tidegate.sync_apps a WHERE a.app = begin_sync.app;
END
$$;
COMMENT ON FUNCTION tidegate.begin_sync(text, bigint, text[], text[]) IS
    'Makes an app ready for devices: its history, and the logging of the collections that they hold. Safe to call again.';

CREATE FUNCTION tidegate.new_sync_file(app text, new_salt bigint, user_id text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    given bigint;
BEGIN
    UPDATE tidegate.sync_apps a SET last_file = a.last_file + 1 WHERE a.app = new_sync_file.app
        RETURNING a.last_file INTO given;
    INSERT INTO tidegate.sync_files (app, ident, salt, user_id)
        VALUES (new_sync_file.app, given, new_salt, new_sync_file.user_id);
    RETURN given;
END
$$;
COMMENT ON FUNCTION tidegate.new_sync_file(text, bigint, text) IS 'Gives a device''s new file its identifier.';

-- What operators do -------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.list_sync_files(app text)
    RETURNS TABLE (ident bigint, user_id text, client_version bigint, acknowledged bigint, behind bigint,
                   query_version bigint, query text, created_at timestamptz, seen_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT f.ident, f.user_id, f.client_version, f.acknowledged, a.version - f.acknowledged, f.query_version, f.query,
                 f.created_at, f.seen_at
          FROM tidegate.sync_files f JOIN tidegate.sync_apps a ON a.app = f.app
          WHERE f.app = tidegate.app_id(list_sync_files.app) ORDER BY f.ident $$;
COMMENT ON FUNCTION tidegate.list_sync_files(text) IS 'The files of an app''s devices: whose they are, what they want, and how many versions they are behind.';

-- Privileges --------------------------------------------------------------------------------------------

GRANT SELECT, UPDATE ON tidegate.sync_apps, tidegate.sync_files TO tidegate_gateway;
GRANT SELECT, INSERT, UPDATE, DELETE ON tidegate.sync_history, tidegate.sync_history_objects, tidegate.sync_reciprocal
    TO tidegate_gateway;
GRANT SELECT, DELETE ON tidegate.sync_pending TO tidegate_gateway;
GRANT SELECT ON tidegate.sync_collections TO tidegate_gateway;
GRANT SELECT ON tidegate.sync_apps, tidegate.sync_files, tidegate.sync_history, tidegate.sync_history_objects,
    tidegate.sync_reciprocal, tidegate.sync_collections, tidegate.sync_pending TO tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relnamespace = 'tidegate'::regnamespace AND c.relkind = 'r'
          AND c.relname IN ('sync_apps', 'sync_files', 'sync_history', 'sync_history_objects', 'sync_reciprocal',
                            'sync_collections', 'sync_pending')
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO tidegate_owner', object.name);
    END LOOP;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('queue_sync', 'begin_sync', 'new_sync_file', 'list_sync_files')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short IN ('begin_sync', 'new_sync_file') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        ELSIF object.short = 'list_sync_files' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin, tidegate_readonly', object.name);
        END IF;
    END LOOP;
END
$$;
