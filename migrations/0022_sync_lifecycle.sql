-- Device Sync, from day to day: which device is connected where, pauses, resets on demand, the end of old history,
-- and what an operator may look at.

ALTER TABLE tidegate.sync_files ADD COLUMN reset_reason text;
COMMENT ON COLUMN tidegate.sync_files.reset_reason IS 'Why the device must begin anew when it is heard of again; null when it need not.';
COMMENT ON COLUMN tidegate.sync_files.permissions IS
    'What its user might see when it last connected, class by class, as JSON; when that has changed, the device is brought from there to what its user may see now.';
CREATE INDEX sync_history_at ON tidegate.sync_history (app, at);

-- Who is connected --------------------------------------------------------------------------------------
-- A gateway that is gone has no devices: their files may be opened elsewhere. It is gone when it has not been seen for
-- half a minute, or when it has missed a sign of life and its connection has ended.

CREATE TABLE tidegate.sync_gateways (
    id         text PRIMARY KEY,
    process    integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE tidegate.sync_gateways IS 'Processes that serve devices, and when each was last seen alive.';
COMMENT ON COLUMN tidegate.sync_gateways.process IS 'The server process of the connection that was used last: it ends with the gateway.';

CREATE TABLE tidegate.sync_sessions (
    app       text NOT NULL,
    ident     bigint NOT NULL,
    holder    text NOT NULL,
    gateway   text NOT NULL REFERENCES tidegate.sync_gateways ON DELETE CASCADE,
    user_id   text NOT NULL,
    protocol  integer NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, ident),
    FOREIGN KEY (app, ident) REFERENCES tidegate.sync_files ON DELETE CASCADE
);
CREATE INDEX sync_sessions_gateway ON tidegate.sync_sessions (gateway);
COMMENT ON TABLE tidegate.sync_sessions IS 'Files of devices that are open, and where: a file is open once among all gateways.';
COMMENT ON COLUMN tidegate.sync_sessions.protocol IS 'The version of the protocol that the device speaks.';

CREATE FUNCTION tidegate.has_sync_gateway(gateway text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT EXISTS (
              SELECT FROM tidegate.sync_gateways g WHERE g.id = gateway
              AND g.seen_at > now() - interval '30 seconds'
              AND (g.seen_at > now() - interval '8 seconds'
                   OR EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = g.process))) $$;
COMMENT ON FUNCTION tidegate.has_sync_gateway(text) IS 'Whether a gateway is alive.';

CREATE FUNCTION tidegate.keep_sync_gateway(gateway text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    was_alive boolean := tidegate.has_sync_gateway(gateway);
BEGIN
    INSERT INTO tidegate.sync_gateways AS g (id, process) VALUES (gateway, pg_backend_pid())
        ON CONFLICT (id) DO UPDATE SET seen_at = now(), process = excluded.process;
    DELETE FROM tidegate.sync_gateways g WHERE g.seen_at < now() - interval '5 minutes';
    RETURN was_alive;
END
$$;
COMMENT ON FUNCTION tidegate.keep_sync_gateway(text) IS
    'For the gateway: a sign of life; false when it was taken for dead, so that its devices may be elsewhere.';

CREATE FUNCTION tidegate.end_sync_gateway(gateway text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ DELETE FROM tidegate.sync_gateways g WHERE g.id = gateway $$;
COMMENT ON FUNCTION tidegate.end_sync_gateway(text) IS 'For the gateway: it serves no devices any more.';

CREATE FUNCTION tidegate.claim_sync_file(app text, ident bigint, holder text, gateway text, protocol integer)
    RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO tidegate.sync_gateways AS g (id, process) VALUES (claim_sync_file.gateway, pg_backend_pid())
        ON CONFLICT (id) DO NOTHING;
    INSERT INTO tidegate.sync_sessions AS s (app, ident, holder, gateway, user_id, protocol)
        SELECT f.app, f.ident, claim_sync_file.holder, claim_sync_file.gateway, f.user_id, claim_sync_file.protocol
        FROM tidegate.sync_files f WHERE f.app = claim_sync_file.app AND f.ident = claim_sync_file.ident
        ON CONFLICT (app, ident) DO UPDATE
            SET holder = excluded.holder, gateway = excluded.gateway, protocol = excluded.protocol, opened_at = now()
            WHERE s.gateway = excluded.gateway OR NOT tidegate.has_sync_gateway(s.gateway);
    IF FOUND THEN RETURN true; END IF;
    -- Whoever has it looks whether its device is still there.
    PERFORM pg_notify('tidegate_sync_files', 'probe:' || claim_sync_file.app || ':' || claim_sync_file.ident);
    RETURN false;
END
$$;
COMMENT ON FUNCTION tidegate.claim_sync_file(text, bigint, text, text, integer) IS
    'For the gateway: opens a file of a device; false while another gateway has it open.';

CREATE FUNCTION tidegate.release_sync_file(app text, ident bigint, holder text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ DELETE FROM tidegate.sync_sessions s WHERE s.app = release_sync_file.app
          AND s.ident = release_sync_file.ident AND s.holder = release_sync_file.holder $$;
COMMENT ON FUNCTION tidegate.release_sync_file(text, bigint, text) IS 'For the gateway: closes a file of a device.';

-- Custom user data --------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.announce_sync_user(app text, user_id text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT pg_notify('tidegate_users', app || ':' || user_id) $$;
COMMENT ON FUNCTION tidegate.announce_sync_user(text, text) IS
    'For the gateway: something that roles may know of a user has changed.';

-- What operators do -------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.set_sync_state(app text, state text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE tidegate.settings s
        SET config = (s.config::jsonb || jsonb_build_object('state', set_sync_state.state)
                      || CASE WHEN set_sync_state.state = 'enabled' THEN '{}'::jsonb
                              ELSE jsonb_build_object('last_disabled', floor(extract(epoch FROM now()))::bigint) END)::json
        WHERE s.app = set_sync_state.app AND s.name = 'sync';
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('app', 'has no settings of sync: see tidegate.set_sync');
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.set_sync_state(text, text) IS 'Replaces the state in the settings of sync of an app, given by its internal id.';

CREATE FUNCTION tidegate.pause_sync(app text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ BEGIN PERFORM tidegate.set_sync_state(tidegate.app_id(app), 'disabled'); END $$;
COMMENT ON FUNCTION tidegate.pause_sync(text) IS
    'Devices wait until enable_sync; their files and the history stay, and nothing is lost however long it takes.';

CREATE FUNCTION tidegate.enable_sync(app text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ BEGIN PERFORM tidegate.set_sync_state(tidegate.app_id(app), 'enabled'); END $$;
COMMENT ON FUNCTION tidegate.enable_sync(text) IS 'Devices sync, again after pause_sync or anew after terminate_sync.';

CREATE FUNCTION tidegate.terminate_sync(app text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    found_app text;
    place record;
BEGIN
    found_app := tidegate.app_id(terminate_sync.app);
    IF EXISTS (SELECT FROM tidegate.settings s WHERE s.app = found_app AND s.name = 'sync') THEN
        PERFORM tidegate.set_sync_state(found_app, '');
    END IF;
    -- Whoever is adding to the history finishes first.
    PERFORM FROM tidegate.sync_apps a WHERE a.app = found_app FOR UPDATE;
    FOR place IN SELECT c.database, c.collection FROM tidegate.sync_collections s
        JOIN tidegate.collections c ON c.id = s.collection_id WHERE s.app = found_app
        AND NOT EXISTS (SELECT FROM tidegate.sync_collections o WHERE o.collection_id = s.collection_id AND o.app <> found_app)
    LOOP
        PERFORM tidegate.set_listener(place.database, place.collection, 'sync', false);
    END LOOP;
    DELETE FROM tidegate.sync_pending p WHERE p.app = found_app;
    DELETE FROM tidegate.sync_apps a WHERE a.app = found_app;
    PERFORM pg_notify('tidegate_config', found_app);
END
$$;
COMMENT ON FUNCTION tidegate.terminate_sync(text) IS
    'Forgets the history and the files of an app''s devices, which wait until enable_sync and must reset then. The documents stay.';

CREATE FUNCTION tidegate.force_client_reset(app text, ident bigint DEFAULT NULL, user_id text DEFAULT NULL)
    RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    found_app text := tidegate.app_id(force_client_reset.app);
    marked bigint;
BEGIN
    IF force_client_reset.ident IS NULL AND force_client_reset.user_id IS NULL THEN
        PERFORM tidegate.refuse('ident', 'or user_id must be given; terminate_sync resets all devices');
    ELSIF force_client_reset.user_id = '' THEN
        PERFORM tidegate.refuse('user_id', 'must not be empty');
    END IF;
    WITH hit AS (
        UPDATE tidegate.sync_files f SET reset_reason = 'an operator has asked for it'
            WHERE f.app = found_app AND (force_client_reset.ident IS NULL OR f.ident = force_client_reset.ident)
              AND (force_client_reset.user_id IS NULL OR f.user_id = force_client_reset.user_id)
            RETURNING f.ident
    ), told AS (
        SELECT pg_notify('tidegate_sync_files', 'reset:' || found_app || ':' || h.ident) FROM hit h
    )
    SELECT count(*) INTO marked FROM told;
    IF marked = 0 AND force_client_reset.ident IS NOT NULL THEN
        PERFORM tidegate.refuse_missing('ident', force_client_reset.ident::text);
    ELSIF marked = 0 THEN
        PERFORM tidegate.refuse_missing('user_id', force_client_reset.user_id);
    END IF;
    RETURN marked;
END
$$;
COMMENT ON FUNCTION tidegate.force_client_reset(text, bigint, text) IS
    'Makes one file of a device, or all of a user, begin anew, at once or when it is heard of again; returns how many.';

CREATE FUNCTION tidegate.trim_sync(app text, keep interval DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    found_app text := tidegate.app_id(trim_sync.app);
    span interval := coalesce(trim_sync.keep, (
        SELECT make_interval(days => greatest(1, (s.config ->> 'client_max_offline_days')::numeric::integer))
        FROM tidegate.settings s WHERE s.app = found_app AND s.name = 'sync'));
    trimmed bigint;
    last bigint;
    needed bigint;
BEGIN
    IF span IS NULL THEN RETURN 0; END IF;
    PERFORM tidegate.check_span('keep', span);
    SELECT a.trimmed_to INTO trimmed FROM tidegate.sync_apps a WHERE a.app = found_app FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    -- A file that was away for longer has nothing to say any more.
    DELETE FROM tidegate.sync_files f WHERE f.app = found_app AND f.seen_at < now() - 2 * span
        AND f.acknowledged < trimmed
        AND NOT EXISTS (SELECT FROM tidegate.sync_sessions s WHERE s.app = f.app AND s.ident = f.ident);
    SELECT max(h.version) INTO last FROM tidegate.sync_history h WHERE h.app = found_app AND h.at < now() - span;
    SELECT min(least(f.acknowledged, f.locked)) INTO needed FROM tidegate.sync_files f
        WHERE f.app = found_app AND f.reset_reason IS NULL AND (f.seen_at >= now() - span OR EXISTS (
            SELECT FROM tidegate.sync_sessions s WHERE s.app = f.app AND s.ident = f.ident));
    -- A part at a time: nobody can add to the history meanwhile.
    last := least(last, needed, trimmed + 10000);
    IF last IS NULL OR last <= trimmed THEN RETURN 0; END IF;
    UPDATE tidegate.sync_apps a SET trimmed_to = last WHERE a.app = found_app;
    DELETE FROM tidegate.sync_reciprocal r WHERE r.app = found_app AND r.version <= last;
    DELETE FROM tidegate.sync_history h WHERE h.app = found_app AND h.version <= last;
    RETURN last - trimmed;
END
$$;
COMMENT ON FUNCTION tidegate.trim_sync(text, interval) IS
    'Forgets history that is older than this (null: client_max_offline_days) and that no device needs which was heard of since; at most 10,000 versions at once, and returns how many.';

-- What operators see ------------------------------------------------------------------------------------

CREATE VIEW tidegate.sync_status AS
    SELECT p.client_app_id AS app, coalesce(s.config ->> 'state', '') AS state, a.version, a.trimmed_to, a.started_at,
           (SELECT count(*) FROM tidegate.sync_files f WHERE f.app = a.app) AS files,
           (SELECT count(*) FROM tidegate.sync_sessions o WHERE o.app = a.app) AS open_files,
           (SELECT a.version - min(f.acknowledged) FROM tidegate.sync_files f WHERE f.app = a.app) AS largest_lag,
           (SELECT count(*) FROM tidegate.sync_pending w WHERE w.app = a.app) AS waiting_changes,
           (SELECT sum(pg_column_size(h.changeset)) FROM tidegate.sync_history h WHERE h.app = a.app)
               + (SELECT coalesce(sum(coalesce(pg_column_size(o.before), 0) + coalesce(pg_column_size(o.after), 0)), 0)
                  FROM tidegate.sync_history_objects o WHERE o.app = a.app) AS history_bytes
    FROM tidegate.sync_apps a JOIN tidegate.apps p ON p.id = a.app
    LEFT JOIN tidegate.settings s ON s.app = a.app AND s.name = 'sync';
COMMENT ON VIEW tidegate.sync_status IS
    'Per app: how long its history is, how many devices have files and how many have them open, how far the slowest is behind. history_bytes reads the whole history, when it is asked for.';

CREATE VIEW tidegate.sync_clients AS
    SELECT p.client_app_id AS app, f.ident, f.user_id, f.client_version, f.acknowledged,
           a.version - f.acknowledged AS lag, f.query_version, f.created_at, f.seen_at,
           o.gateway, o.protocol, o.opened_at,
           CASE WHEN f.reset_reason IS NOT NULL THEN f.reset_reason
                WHEN f.acknowledged > 0 AND f.acknowledged < a.trimmed_to THEN 'it is older than the history' END AS must_reset
    FROM tidegate.sync_files f JOIN tidegate.sync_apps a ON a.app = f.app JOIN tidegate.apps p ON p.id = f.app
    LEFT JOIN tidegate.sync_sessions o ON o.app = f.app AND o.ident = f.ident;
COMMENT ON VIEW tidegate.sync_clients IS
    'The files of devices: whose, how many versions behind, where it is open (null: nowhere), and why it must begin anew.';

CREATE FUNCTION tidegate.sync_queries(query text) RETURNS TABLE (class text, filter text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT q.key, q.value FROM json_each_text(query::json) AS q;
EXCEPTION WHEN data_exception THEN
    -- A text that PostgreSQL cannot take apart, such as one with an escaped U+0000.
    RETURN QUERY SELECT NULL::text, query;
END
$$;
COMMENT ON FUNCTION tidegate.sync_queries(text) IS
    'What a device wants to hold, class by class; nothing of null, and one row without a class of an empty or unreadable text.';

CREATE VIEW tidegate.sync_subscriptions AS
    SELECT p.client_app_id AS app, f.ident, f.user_id, f.query_version, q.class, q.filter AS query
    FROM tidegate.sync_files f JOIN tidegate.apps p ON p.id = f.app
    CROSS JOIN LATERAL tidegate.sync_queries(f.query) AS q;
COMMENT ON VIEW tidegate.sync_subscriptions IS 'What devices want to hold, class by class, as they put it.';

CREATE VIEW tidegate.sync_denials AS
    SELECT p.client_app_id AS app, h.at, h.version, h.target_file AS ident, f.user_id, d.item ->> 'table' AS class,
           d.item ->> 'key' AS key, d.item ->> 'reason' AS reason, f.acknowledged >= h.version AS is_undone
    FROM tidegate.sync_history h JOIN tidegate.apps p ON p.id = h.app
    LEFT JOIN tidegate.sync_files f ON f.app = h.app AND f.ident = h.target_file
    CROSS JOIN LATERAL jsonb_array_elements(h.rejections) AS d (item)
    WHERE h.rejections IS NOT NULL;
COMMENT ON VIEW tidegate.sync_denials IS
    'Writes of devices that were undone, as long as they are in the history: of which file, why, and whether the device knows by now.';

-- Privileges --------------------------------------------------------------------------------------------

GRANT SELECT ON tidegate.sync_gateways, tidegate.sync_sessions TO tidegate_gateway, tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    object record;
    for_gateway text[] := ARRAY['keep_sync_gateway', 'end_sync_gateway', 'claim_sync_file', 'release_sync_file',
        'announce_sync_user', 'trim_sync'];
    for_admin text[] := ARRAY['pause_sync', 'enable_sync', 'force_client_reset', 'trim_sync', 'terminate_sync'];
BEGIN
    FOR object IN
        SELECT c.oid::regclass AS name, c.relkind FROM pg_class c
        WHERE c.relnamespace = 'tidegate'::regnamespace
          AND c.relname IN ('sync_gateways', 'sync_sessions', 'sync_status', 'sync_clients', 'sync_subscriptions',
                            'sync_denials')
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('GRANT SELECT ON %s TO tidegate_admin, tidegate_readonly', object.name);
    END LOOP;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname = ANY (for_gateway || for_admin || ARRAY['set_sync_state', 'has_sync_gateway', 'sync_queries'])
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short = ANY (for_gateway) THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        END IF;
        IF object.short = ANY (for_admin) THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        ELSIF object.short = 'sync_queries' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin, tidegate_readonly', object.name);
        END IF;
    END LOOP;
END
$$;
