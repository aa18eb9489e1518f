-- Watch: the change log as clients follow it. Which collections are watched, from where on a collection's changes
-- are logged without a gap, how far the log is complete, and what was replaced rather than updated.

-- The log -----------------------------------------------------------------------------------------------

CREATE TABLE tidegate.change_log (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    id         text COLLATE "C" NOT NULL,
    trimmed_to bigint NOT NULL
);
COMMENT ON TABLE tidegate.change_log IS 'One row: which log this is, and up to which change it has been forgotten.';
COMMENT ON COLUMN tidegate.change_log.id IS 'Stands in resume tokens, so that those of another database are known as such.';
INSERT INTO tidegate.change_log (id, trimmed_to)
    SELECT left(replace(gen_random_uuid()::text, '-', ''), 16), coalesce((SELECT min(c.seq) - 1 FROM tidegate.changes c), 0);

ALTER TABLE tidegate.collections ADD COLUMN logged_since bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN tidegate.collections.logged_since IS
    'Every change behind this one is in the log, as long as there are listeners: when the first one came.';

CREATE TABLE tidegate.watched (
    database   text COLLATE "C" NOT NULL,
    collection text COLLATE "C" NOT NULL,
    watched_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (database, collection)
);
COMMENT ON TABLE tidegate.watched IS
    'Collections that clients watch, or watched lately: their changes are logged, so that a client that was away can go on where it was. A collection need not exist yet.';

-- A replacement is an update to PostgreSQL. Whoever replaces sets tidegate.replaced for its statement: to the
-- key of the row, or to * for all rows of the statement.
ALTER TABLE tidegate.changes DROP CONSTRAINT changes_operation_check;
ALTER TABLE tidegate.changes ADD CONSTRAINT changes_operation_check
    CHECK (operation IN ('insert', 'update', 'replace', 'delete'));

CREATE OR REPLACE FUNCTION tidegate.log_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    source text := nullif(current_setting('tidegate.origin', true), '');
    replaced text := nullif(current_setting('tidegate.replaced', true), '');
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO tidegate.changes (collection_id, key, operation, after, after_shape, origin)
            VALUES (TG_ARGV[0]::integer, NEW._id, 'insert', NEW.doc, NEW.shape, source);
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO tidegate.changes (collection_id, key, operation, before, before_shape, origin)
            VALUES (TG_ARGV[0]::integer, OLD._id, 'delete', OLD.doc, OLD.shape, source);
    ELSIF OLD._id <> NEW._id THEN
        INSERT INTO tidegate.changes (collection_id, key, operation, before, before_shape, origin)
            VALUES (TG_ARGV[0]::integer, OLD._id, 'delete', OLD.doc, OLD.shape, source);
        INSERT INTO tidegate.changes (collection_id, key, operation, after, after_shape, origin)
            VALUES (TG_ARGV[0]::integer, NEW._id, 'insert', NEW.doc, NEW.shape, source);
    ELSIF OLD.doc IS DISTINCT FROM NEW.doc OR OLD.shape <> NEW.shape OR OLD.doc::text <> NEW.doc::text THEN
        INSERT INTO tidegate.changes (collection_id, key, operation, before, before_shape, after, after_shape, origin)
            VALUES (TG_ARGV[0]::integer, NEW._id,
                    CASE WHEN replaced IN (NEW._id, '*') THEN 'replace' ELSE 'update' END,
                    OLD.doc, OLD.shape, NEW.doc, NEW.shape, source);
        -- The same transaction may update the same row later.
        IF replaced = NEW._id THEN
            PERFORM set_config('tidegate.replaced', '', true);
        END IF;
    END IF;
    PERFORM pg_notify('tidegate_changes', TG_ARGV[0]);
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION tidegate.set_listener(database text, collection text, listener text, listens boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry tidegate.collections;
    was_off boolean;
BEGIN
    PERFORM tidegate.refuse_mapped(database, collection);
    IF listens THEN
        PERFORM tidegate.ensure_collection(database, collection);
    END IF;
    SELECT c.listeners = '{}' INTO was_off FROM tidegate.collections c
        WHERE c.database = set_listener.database AND c.collection = set_listener.collection FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    UPDATE tidegate.collections c
        SET listeners = CASE WHEN listens THEN array_append(array_remove(c.listeners, listener), listener)
                             ELSE array_remove(c.listeners, listener) END
        WHERE c.database = set_listener.database AND c.collection = set_listener.collection
        RETURNING * INTO entry;
    -- Waits for those who are writing: whoever comes later finds the trigger.
    EXECUTE format('ALTER TABLE %I.%I %s TRIGGER tidegate_log_change', entry.schema_name, entry.table_name,
        CASE WHEN entry.listeners = '{}' THEN 'DISABLE' ELSE 'ENABLE' END);
    IF was_off AND listens THEN
        -- A number of its own, so that nothing that was logged before the gap has it.
        UPDATE tidegate.collections c SET logged_since = nextval('tidegate.change_sequence') WHERE c.id = entry.id;
    END IF;
    PERFORM pg_notify('tidegate_collections', entry.id::text);
END
$$;

-- A collection that comes into being while somebody watches for it.
DO $$
BEGIN
    EXECUTE replace(pg_get_functiondef('tidegate.ensure_collection(text,text)'::regprocedure),
        'PERFORM tidegate.build_view(found_id);',
        'PERFORM tidegate.build_view(found_id);
    IF EXISTS (SELECT FROM tidegate.watched w
               WHERE w.database = ensure_collection.database AND w.collection = ensure_collection.collection) THEN
        PERFORM tidegate.set_listener(ensure_collection.database, ensure_collection.collection, ''watch'', true);
    END IF;');
END
$$;

-- Watching ----------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.begin_watch(
    database text, collection text,
    OUT outcome text, OUT collection_id integer, OUT logged_since bigint
) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    -- While this waits for a long write, all other writes of the collection wait behind it.
    SET lock_timeout = '1s'
AS $$
#variable_conflict use_column
DECLARE
    entry tidegate.collections;
BEGIN
    SELECT * INTO entry FROM tidegate.collections c
        WHERE c.database = begin_watch.database AND c.collection = begin_watch.collection;
    IF entry.mapped IS NOT NULL THEN
        outcome := 'mapped';
        RETURN;
    END IF;
    IF entry.id IS NULL THEN
        -- Whoever makes the collection holds this lock, and looks whether it is watched.
        PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.collections', 0));
        IF (SELECT count(*) FROM tidegate.watched) >= 10000 THEN
            outcome := 'full';
            RETURN;
        END IF;
    END IF;
    -- The row before the collection, as end_watch has it.
    INSERT INTO tidegate.watched AS w (database, collection) VALUES (begin_watch.database, begin_watch.collection)
        ON CONFLICT (database, collection) DO UPDATE SET watched_at = clock_timestamp();
    SELECT * INTO entry FROM tidegate.collections c
        WHERE c.database = begin_watch.database AND c.collection = begin_watch.collection;
    IF entry.id IS NOT NULL AND NOT 'watch' = ANY (entry.listeners) THEN
        PERFORM tidegate.set_listener(begin_watch.database, begin_watch.collection, 'watch', true);
        SELECT * INTO entry FROM tidegate.collections c WHERE c.id = entry.id;
    END IF;
    outcome := 'ready';
    collection_id := entry.id;
    logged_since := entry.logged_since;
END
$$;
COMMENT ON FUNCTION tidegate.begin_watch(text, text) IS
    'Logs the changes of a collection for those who watch it, from its making on if it is not there yet. Outcome: ready, mapped (a relation whose changes are not logged) or full (too many watched names).';

CREATE FUNCTION tidegate.keep_watches(databases text[], collections text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ UPDATE tidegate.watched w SET watched_at = clock_timestamp()
          FROM (SELECT DISTINCT n.d, n.c FROM unnest(databases, collections) AS n (d, c) ORDER BY 1, 2) AS open
          WHERE w.database = open.d AND w.collection = open.c $$;
COMMENT ON FUNCTION tidegate.keep_watches(text[], text[]) IS 'Notes that these collections are being watched.';

CREATE FUNCTION tidegate.end_watch(keep interval) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '1s'
AS $$
DECLARE
    ended record;
BEGIN
    DELETE FROM tidegate.watched w WHERE (w.database, w.collection) = (
            SELECT o.database, o.collection FROM tidegate.watched o
            WHERE o.watched_at < clock_timestamp() - keep ORDER BY o.watched_at LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING w.database, w.collection INTO ended;
    IF NOT FOUND THEN RETURN false; END IF;
    IF EXISTS (SELECT FROM tidegate.collections c WHERE c.database = ended.database AND c.collection = ended.collection
               AND 'watch' = ANY (c.listeners)) THEN
        PERFORM tidegate.set_listener(ended.database, ended.collection, 'watch', false);
    END IF;
    RETURN true;
END
$$;
COMMENT ON FUNCTION tidegate.end_watch(interval) IS
    'Ends the logging of one collection that nobody has watched for so long; false when there is none.';

CREATE FUNCTION tidegate.change_horizon(OUT horizon bigint, OUT writers text) RETURNS record
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- In this order. Whoever took a number up to this one had locked the log before, and holds that lock to its end.
    SELECT CASE WHEN s.is_called THEN s.last_value ELSE s.last_value - 1 END INTO horizon FROM tidegate.change_sequence s;
    SELECT coalesce(string_agg(DISTINCT l.virtualtransaction, ' '), '') INTO writers FROM pg_locks l
        WHERE l.locktype = 'relation' AND l.relation = 'tidegate.changes'::regclass
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
          AND l.mode = 'RowExclusiveLock' AND l.granted;
END
$$;
COMMENT ON FUNCTION tidegate.change_horizon() IS
    'How far the log reaches at this moment, and the transactions that may still add changes up to there. Once none of these runs any more, a later statement sees every change up to there that there will ever be.';

CREATE OR REPLACE FUNCTION tidegate.forget_changes(keep interval, partition_rows bigint DEFAULT 1000000) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    part record;
    oldest_kept timestamptz := clock_timestamp() - keep;
    newest bigint;
    removed bigint := 0;
    dropped bigint;
    last_dropped bigint;
    last_removed bigint := 0;
    has_recent boolean;
BEGIN
    IF keep IS NULL OR partition_rows IS NULL OR partition_rows < 1 THEN
        RAISE EXCEPTION 'keep and partition_rows: must be given' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- Nobody may write between looking at the bounds and moving them.
    LOCK TABLE tidegate.changes IN SHARE ROW EXCLUSIVE MODE;
    SELECT last_value INTO newest FROM tidegate.change_sequence;
    FOR part IN
        SELECT c.oid::regclass AS name, c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'tidegate.changes'::regclass AND c.relname <> 'changes_rest'
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE at >= $1)', part.name) INTO has_recent USING oldest_kept;
        -- The partition that the sequence has not yet left stays.
        IF NOT has_recent AND newest >= split_part(part.relname, '_', 3)::bigint THEN
            EXECUTE format('SELECT count(*), max(seq) FROM %s', part.name) INTO dropped, last_dropped;
            EXECUTE format('DROP TABLE %s', part.name);
            removed := removed + dropped;
            last_removed := greatest(last_removed, last_dropped);
        END IF;
    END LOOP;
    WITH gone AS (DELETE FROM tidegate.changes_rest WHERE at < oldest_kept RETURNING seq)
        SELECT count(*), max(g.seq) INTO dropped, last_dropped FROM gone g;
    removed := removed + dropped;
    last_removed := greatest(last_removed, last_dropped);
    -- Whoever wants to go on from before this has missed something.
    UPDATE tidegate.change_log l SET trimmed_to = last_removed WHERE l.trimmed_to < last_removed;
    -- The next partition begins beyond everything that lies in the rest.
    newest := greatest(newest, coalesce((SELECT max(seq) FROM tidegate.changes_rest), 0)) + 1;
    IF NOT EXISTS (
        SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'tidegate.changes'::regclass AND c.relname <> 'changes_rest'
          AND split_part(c.relname, '_', 3)::bigint > newest + partition_rows / 2
    ) THEN
        SELECT greatest(newest, max(split_part(c.relname, '_', 3)::bigint)) INTO newest
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'tidegate.changes'::regclass AND c.relname <> 'changes_rest';
        EXECUTE format('CREATE TABLE tidegate.%I PARTITION OF tidegate.changes FOR VALUES FROM (%s) TO (%s)',
            format('changes_%s_%s', newest, newest + partition_rows), newest, newest + partition_rows);
    END IF;
    RETURN removed;
END
$$;

CREATE FUNCTION tidegate.sweep_changes(keep interval) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '1s'
AS $$
BEGIN
    -- One gateway at a time; the others come again.
    IF NOT pg_try_advisory_xact_lock(hashtextextended('tidegate.sweep_changes', 0)) THEN RETURN 0; END IF;
    RETURN tidegate.trim_changes(keep);
END
$$;
COMMENT ON FUNCTION tidegate.sweep_changes(interval) IS
    'As trim_changes, for gateways: gives up after a second in which somebody writes.';

CREATE FUNCTION tidegate.list_watched_collections()
    RETURNS TABLE (database text, collection text, watched_at timestamptz, "exists" boolean, logged boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT w.database, w.collection, w.watched_at, c.id IS NOT NULL, coalesce('watch' = ANY (c.listeners), false)
          FROM tidegate.watched w
          LEFT JOIN tidegate.collections c ON c.database = w.database AND c.collection = w.collection
          ORDER BY 1, 2 $$;
COMMENT ON FUNCTION tidegate.list_watched_collections() IS
    'Collections that clients watch or watched within --change-retention: their changes are logged.';

-- Privileges --------------------------------------------------------------------------------------------

GRANT SELECT ON tidegate.change_log, tidegate.watched TO tidegate_gateway, tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    object record;
BEGIN
    ALTER TABLE tidegate.change_log OWNER TO tidegate_owner;
    ALTER TABLE tidegate.watched OWNER TO tidegate_owner;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('begin_watch', 'keep_watches', 'end_watch', 'change_horizon', 'sweep_changes',
                            'list_watched_collections')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short = 'list_watched_collections' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin, tidegate_readonly', object.name);
        ELSE
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        END IF;
    END LOOP;
END
$$;
