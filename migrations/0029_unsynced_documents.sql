-- Device Sync: documents that no device can have, since they do not fit the class that the schema makes, and how far
-- collections were looked through for them.

CREATE TABLE tidegate.sync_unsynced (
    app           text NOT NULL REFERENCES tidegate.sync_apps ON DELETE CASCADE,
    collection_id integer NOT NULL REFERENCES tidegate.collections ON DELETE CASCADE,
    key           text COLLATE "C" NOT NULL,
    id            text NOT NULL,
    reason        text NOT NULL,
    at            timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, collection_id, key)
);
COMMENT ON TABLE tidegate.sync_unsynced IS
    'Documents that fit no class, 100,000 per app at the most. A document leaves the list when it is deleted or fits again.';
COMMENT ON COLUMN tidegate.sync_unsynced.id IS 'The _id as Extended JSON.';

CREATE TABLE tidegate.sync_scans (
    app           text NOT NULL REFERENCES tidegate.sync_apps ON DELETE CASCADE,
    collection_id integer NOT NULL REFERENCES tidegate.collections ON DELETE CASCADE,
    schema        text NOT NULL,
    position      text COLLATE "C" NOT NULL DEFAULT '',
    is_done       boolean NOT NULL DEFAULT false,
    PRIMARY KEY (app, collection_id)
);
COMMENT ON TABLE tidegate.sync_scans IS
    'How far a collection was looked through for documents that fit no class, with which schema.';

CREATE FUNCTION tidegate.note_unsynced(app text, collection_id integer, keys text[], ids text[], reasons text[], gone text[])
    RETURNS TABLE (id text, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    room bigint;
BEGIN
    DELETE FROM tidegate.sync_unsynced u
        WHERE u.app = note_unsynced.app AND u.collection_id = note_unsynced.collection_id AND u.key = ANY (gone);
    IF cardinality(keys) = 0 THEN RETURN; END IF;
    SELECT 100000 - count(*) INTO room FROM tidegate.sync_unsynced u WHERE u.app = note_unsynced.app;
    RETURN QUERY
        INSERT INTO tidegate.sync_unsynced AS u (app, collection_id, key, id, reason)
        SELECT note_unsynced.app, note_unsynced.collection_id, n.k, n.i, n.r
        FROM (SELECT DISTINCT ON (k) k, i, r FROM unnest(keys, ids, reasons) WITH ORDINALITY AS o (k, i, r, place)
              ORDER BY k, place DESC) AS n
        LEFT JOIN tidegate.sync_unsynced s ON s.app = note_unsynced.app
            AND s.collection_id = note_unsynced.collection_id AND s.key = n.k
        ORDER BY s.key NULLS LAST, n.k LIMIT greatest(room, 0) + (
            SELECT count(*) FROM tidegate.sync_unsynced s WHERE s.app = note_unsynced.app
            AND s.collection_id = note_unsynced.collection_id AND s.key = ANY (keys))
        ON CONFLICT (app, collection_id, key) DO UPDATE SET reason = excluded.reason, at = now()
            WHERE u.reason <> excluded.reason
        RETURNING u.id, u.reason;
END
$$;
COMMENT ON FUNCTION tidegate.note_unsynced(text, integer, text[], text[], text[], text[]) IS
    'For the gateway: documents that fit no class, and those that are gone or fit again; returns what is news. A full list takes no more.';

CREATE VIEW tidegate.unsynced_documents AS
    SELECT p.client_app_id AS app, c.database, c.collection, u.id, u.reason, u.at
    FROM tidegate.sync_unsynced u JOIN tidegate.apps p ON p.id = u.app
    JOIN tidegate.collections c ON c.id = u.collection_id;
COMMENT ON VIEW tidegate.unsynced_documents IS
    'Documents that no device can have, and why: the first field that does not fit. They stay as they are, and reach devices as soon as they fit.';

ALTER TABLE tidegate.sync_unsynced OWNER TO tidegate_owner;
ALTER TABLE tidegate.sync_scans OWNER TO tidegate_owner;
ALTER VIEW tidegate.unsynced_documents OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.note_unsynced(text, integer, text[], text[], text[], text[]) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.note_unsynced(text, integer, text[], text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.note_unsynced(text, integer, text[], text[], text[], text[]) TO tidegate_gateway;
GRANT SELECT, INSERT, UPDATE ON tidegate.sync_scans TO tidegate_gateway;
GRANT SELECT ON tidegate.sync_unsynced, tidegate.sync_scans, tidegate.unsynced_documents
    TO tidegate_gateway, tidegate_admin, tidegate_readonly;
