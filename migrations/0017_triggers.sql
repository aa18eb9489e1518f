-- Triggers at work: how far each has come, which gateway runs it, what it met; logins as events; which collections
-- have to be logged for them.

CREATE TABLE tidegate.trigger_states (
    app              text COLLATE "C" NOT NULL,
    name             text COLLATE "C" NOT NULL,
    source           text NOT NULL,
    position         bigint NOT NULL,
    paused           boolean NOT NULL DEFAULT false,
    owner            text,
    lease_until      timestamptz,
    handled          bigint NOT NULL DEFAULT 0,
    failed           bigint NOT NULL DEFAULT 0,
    failures         integer NOT NULL DEFAULT 0,
    last_run_at      timestamptz,
    last_error       text,
    last_error_at    timestamptz,
    suspended_at     timestamptz,
    suspended_reason text,
    PRIMARY KEY (app, name),
    FOREIGN KEY (app, name) REFERENCES tidegate.triggers ON DELETE CASCADE ON UPDATE CASCADE
);
COMMENT ON TABLE tidegate.trigger_states IS 'How far each trigger has come; list_trigger_states shows it.';
COMMENT ON COLUMN tidegate.trigger_states.source IS 'What the position counts in; another source begins anew.';
COMMENT ON COLUMN tidegate.trigger_states.position IS
    'The last change in the log, or the last time in seconds since 1970, that has been handled.';
COMMENT ON COLUMN tidegate.trigger_states.failures IS 'How many runs have failed since the last one that did not.';
COMMENT ON COLUMN tidegate.trigger_states.owner IS 'The gateway that runs it until lease_until.';

CREATE TABLE tidegate.auth_events (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app       text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    operation text NOT NULL CHECK (operation IN ('LOGIN', 'CREATE', 'DELETE')),
    providers text[] NOT NULL,
    account   json NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (app, name) REFERENCES tidegate.triggers ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX auth_events_trigger ON tidegate.auth_events (app, name, id);
COMMENT ON TABLE tidegate.auth_events IS 'Logins, creations and deletions of users that triggers have yet to handle.';

-- Logins as events --------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.add_auth_events(target text, wanted text, used text[], who text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO tidegate.auth_events (app, name, operation, providers, account)
        SELECT t.app, t.name, wanted, used, (
            SELECT json_build_object('id', u.id, 'type', u.kind, 'data', u.data, 'identities', coalesce((
                SELECT json_agg(json_build_object('id', i.id, 'provider_type', i.provider_type, 'data', i.data)
                                ORDER BY i.created_at) FROM tidegate.identities i WHERE i.user_id = u.id), '[]'))
            FROM tidegate.users u WHERE u.id = who)
        FROM tidegate.triggers t
        WHERE t.app = target AND t.config ->> 'type' = 'AUTHENTICATION'
          AND t.config #>> '{config,operation_type}' IS NOT NULL
          AND CASE json_typeof(t.config #> '{config,operation_type}')
              WHEN 'array' THEN (t.config #> '{config,operation_type}')::jsonb ? wanted
              ELSE t.config #>> '{config,operation_type}' = wanted END
          AND CASE json_typeof(t.config #> '{config,providers}')
              WHEN 'array' THEN (t.config #> '{config,providers}')::jsonb ?| used
              ELSE true END
          -- While it is off, only those count that it will make up for.
          AND (coalesce(t.config ->> 'disabled', 'false') <> 'true'
               OR coalesce(t.config #>> '{config,skip_catchup_events}', 'false') <> 'true'
                  AND EXISTS (SELECT FROM tidegate.trigger_states s WHERE s.app = t.app AND s.name = t.name));
    IF FOUND THEN PERFORM pg_notify('tidegate_auth_events', target); END IF;
END
$$;
COMMENT ON FUNCTION tidegate.add_auth_events(text, text, text[], text) IS
    'Notes a login, a creation or a deletion for every trigger that waits for it.';

CREATE FUNCTION tidegate.log_login() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.add_auth_events(NEW.app, 'LOGIN', ARRAY[NEW.provider_type], NEW.user_id);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.log_login() IS 'Trigger: a session begins with a login.';
CREATE TRIGGER log_login AFTER INSERT ON tidegate.sessions FOR EACH ROW EXECUTE FUNCTION tidegate.log_login();

CREATE FUNCTION tidegate.log_creation() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A second identity is linked to a user who is there.
    IF NOT EXISTS (SELECT FROM tidegate.identities i WHERE i.user_id = NEW.user_id
                   AND (i.provider_type, i.id) <> (NEW.provider_type, NEW.id)) THEN
        PERFORM tidegate.add_auth_events(NEW.app, 'CREATE', ARRAY[NEW.provider_type], NEW.user_id);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.log_creation() IS 'Trigger: a user begins with the first identity.';
CREATE TRIGGER log_creation AFTER INSERT ON tidegate.identities
    FOR EACH ROW EXECUTE FUNCTION tidegate.log_creation();

CREATE FUNCTION tidegate.log_deletion() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    used text[];
BEGIN
    SELECT array_agg(DISTINCT i.provider_type) INTO used FROM tidegate.identities i WHERE i.user_id = OLD.id;
    -- An app that goes takes its users and its triggers with it.
    IF used IS NOT NULL AND EXISTS (SELECT FROM tidegate.apps a WHERE a.id = OLD.app) THEN
        PERFORM tidegate.add_auth_events(OLD.app, 'DELETE', used, OLD.id);
    END IF;
    RETURN OLD;
END
$$;
COMMENT ON FUNCTION tidegate.log_deletion() IS 'Trigger: a user goes, and the identities with it.';
CREATE TRIGGER log_deletion BEFORE DELETE ON tidegate.users
    FOR EACH ROW EXECUTE FUNCTION tidegate.log_deletion();

-- Changes as events -------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.keep_trigger_listeners() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    -- While this waits for a long write, all other writes of the collection wait behind it.
    SET lock_timeout = '1s'
AS $$
DECLARE
    entry record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.trigger_listeners', 0));
    UPDATE tidegate.trigger_states s SET paused = true FROM tidegate.triggers t
        WHERE t.app = s.app AND t.name = s.name AND NOT s.paused AND coalesce(t.config ->> 'disabled', 'false') = 'true';
    FOR entry IN
        WITH wanted AS (
            SELECT DISTINCT t.config #>> '{config,database}' AS database, t.config #>> '{config,collection}' AS collection
            FROM tidegate.triggers t
            WHERE t.config ->> 'type' = 'DATABASE'
              AND coalesce(t.config #>> '{config,database}', '') <> ''
              AND coalesce(t.config #>> '{config,collection}', '') <> ''
              AND (coalesce(t.config ->> 'disabled', 'false') <> 'true'
                   OR coalesce(t.config #>> '{config,skip_catchup_events}', 'false') <> 'true'
                      AND EXISTS (SELECT FROM tidegate.trigger_states s WHERE s.app = t.app AND s.name = t.name))
        )
        SELECT w.database, w.collection, true AS listens FROM wanted w
            WHERE NOT EXISTS (SELECT FROM tidegate.collections c WHERE c.database = w.database
                              AND c.collection = w.collection AND ('trigger' = ANY (c.listeners) OR c.mapped IS NOT NULL))
        UNION ALL
        SELECT c.database, c.collection, false FROM tidegate.collections c
            WHERE 'trigger' = ANY (c.listeners) AND NOT EXISTS (
                SELECT FROM wanted w WHERE w.database = c.database AND w.collection = c.collection)
        ORDER BY 1, 2
    LOOP
        PERFORM tidegate.set_listener(entry.database, entry.collection, 'trigger', entry.listens);
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.keep_trigger_listeners() IS
    'For gateways: has the changes logged of the collections that triggers follow, and of no others for their sake.';

-- What operators do --------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.list_trigger_states(app text)
    RETURNS TABLE (name text, state text, "position" bigint, waiting bigint, handled bigint, failed bigint,
                   failures integer, last_run_at timestamptz, last_error text, last_error_at timestamptz, reason text,
                   gateway text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT t.name,
                 CASE WHEN t.config ->> 'disabled' = 'true' THEN 'disabled'
                      WHEN s.suspended_at IS NOT NULL THEN 'suspended'
                      WHEN s.lease_until > clock_timestamp() THEN 'running'
                      ELSE 'waiting' END,
                 s.position,
                 CASE t.config ->> 'type'
                      WHEN 'AUTHENTICATION' THEN (SELECT count(*) FROM tidegate.auth_events e WHERE e.app = t.app AND e.name = t.name)
                      WHEN 'DATABASE' THEN (
                          SELECT count(*) FROM tidegate.changes c
                          JOIN tidegate.collections n ON n.id = c.collection_id
                          WHERE n.database = t.config #>> '{config,database}'
                            AND n.collection = t.config #>> '{config,collection}' AND c.seq > s.position) END,
                 s.handled, s.failed, s.failures, s.last_run_at, s.last_error, s.last_error_at, s.suspended_reason,
                 CASE WHEN s.lease_until > clock_timestamp() THEN s.owner END
          FROM tidegate.triggers t LEFT JOIN tidegate.trigger_states s ON s.app = t.app AND s.name = t.name
          WHERE t.app = tidegate.app_id($1) ORDER BY t.name $$;
COMMENT ON FUNCTION tidegate.list_trigger_states(text) IS
    'How the triggers of an app fare: running, waiting for a gateway, disabled or suspended with the reason, how many events wait, were handled, and failed.';

CREATE FUNCTION tidegate.resume_trigger(app text, name text, skip boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    IF skip IS NULL THEN PERFORM tidegate.refuse('skip', 'must be true or false'); END IF;
    IF NOT EXISTS (SELECT FROM tidegate.triggers t WHERE t.app = target AND t.name = resume_trigger.name) THEN
        PERFORM tidegate.refuse('name', format('%s is no trigger of the app', coalesce(quote_literal(name), 'null')));
    END IF;
    IF skip THEN
        DELETE FROM tidegate.auth_events e WHERE e.app = target AND e.name = resume_trigger.name;
        DELETE FROM tidegate.trigger_states s WHERE s.app = target AND s.name = resume_trigger.name;
    ELSE
        UPDATE tidegate.trigger_states s SET suspended_at = NULL, suspended_reason = NULL, failures = 0
            WHERE s.app = target AND s.name = resume_trigger.name;
    END IF;
    PERFORM pg_notify('tidegate_triggers', target);
END
$$;
COMMENT ON FUNCTION tidegate.resume_trigger(text, text, boolean) IS
    'Lets a suspended trigger go on with the event that comes next; with skip, only with events from now on.';

-- Privileges --------------------------------------------------------------------------------------------

GRANT SELECT ON tidegate.trigger_states, tidegate.auth_events TO tidegate_gateway, tidegate_admin, tidegate_readonly;
GRANT INSERT, UPDATE ON tidegate.trigger_states TO tidegate_gateway;
GRANT DELETE ON tidegate.auth_events TO tidegate_gateway;

DO $$
DECLARE
    object record;
BEGIN
    ALTER TABLE tidegate.trigger_states OWNER TO tidegate_owner;
    ALTER TABLE tidegate.auth_events OWNER TO tidegate_owner;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('add_auth_events', 'log_login', 'log_creation', 'log_deletion', 'keep_trigger_listeners',
                            'list_trigger_states', 'resume_trigger')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short IN ('list_trigger_states', 'resume_trigger') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
        IF object.short = 'list_trigger_states' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_readonly', object.name);
        END IF;
        IF object.short = 'keep_trigger_listeners' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        END IF;
    END LOOP;
END
$$;
