-- Functions: what the log says of their runs, runs that an operator asks for in SQL, and the tokens that the
-- functions for confirmation and reset are given.

-- The log -----------------------------------------------------------------------------------------------

ALTER TABLE tidegate.logs
    ADD COLUMN function    text,
    ADD COLUMN arguments   json,
    ADD COLUMN messages    text[],
    ADD COLUMN error       text,
    ADD COLUMN memory_time bigint;
COMMENT ON TABLE tidegate.logs IS
    'One row per request that changed something, ran a function, failed or was denied, and a share of the others (--log-sample). Partitioned by day (UTC), kept as long as --log-retention says. Holds no credentials or bodies; of functions it holds what they were given and wrote.';
COMMENT ON COLUMN tidegate.logs.type IS
    'The hosted service''s name for what was called: ENDPOINT for endpoints and the Data API, FUNCTION, WEBHOOK, AUTH for logins and sessions, API for everything else.';
COMMENT ON COLUMN tidegate.logs.function IS 'The function that ran.';
COMMENT ON COLUMN tidegate.logs.arguments IS
    'What it was called with, as Extended JSON without credentials; null when disable_arg_logs is set. A long one is a text, cut off.';
COMMENT ON COLUMN tidegate.logs.messages IS 'What it wrote to the console, line by line; as many lines as the hosted service kept.';
COMMENT ON COLUMN tidegate.logs.error IS 'What it failed with, and the places in its source.';
COMMENT ON COLUMN tidegate.logs.memory_time IS 'Bytes times milliseconds that it held.';

CREATE FUNCTION tidegate.function_logs(app text, name text DEFAULT NULL, since interval DEFAULT '1 hour')
    RETURNS TABLE (at timestamptz, function text, status integer, duration_ms numeric, user_id text, arguments json,
                   messages text[], error text, request_id text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(function_logs.app);
BEGIN
    PERFORM tidegate.check_span('since', since);
    IF name IS NOT NULL THEN PERFORM tidegate.check_function('name', target, name); END IF;
    SELECT a.client_app_id INTO target FROM tidegate.apps a WHERE a.id = target;
    RETURN QUERY
        SELECT l.at, l.function, l.status, l.duration_ms, l.user_id, l.arguments, l.messages, l.error, l.request_id
        FROM tidegate.logs l
        WHERE l.app = target AND l.function IS NOT NULL AND l.at > now() - since
          AND (function_logs.name IS NULL OR l.function = function_logs.name)
        ORDER BY l.at DESC;
END
$$;
COMMENT ON FUNCTION tidegate.function_logs(text, text, interval) IS
    'The runs of an app''s functions (null: of all) or of one, newest first, with their console lines and errors.';

-- Runs that SQL asks for --------------------------------------------------------------------------------
-- A row is a wish; a gateway takes it once, and writes what became of it. A run whose gateway died is not begun
-- anew: it may have done half of its work.

CREATE TABLE tidegate.function_runs (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app         text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    name        text NOT NULL,
    arguments   json NOT NULL CHECK (json_typeof(arguments) = 'array'),
    asked_by    text NOT NULL DEFAULT session_user,
    asked_at    timestamptz NOT NULL DEFAULT now(),
    state       text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    taken_until timestamptz,
    finished_at timestamptz,
    result      json,
    error       text,
    code        text,
    messages    text[],
    request_id  text
);
CREATE INDEX function_runs_waiting ON tidegate.function_runs (id) WHERE state IN ('waiting', 'running');
COMMENT ON TABLE tidegate.function_runs IS
    'Runs of functions that were asked for by tidegate.run_function, and what became of them; kept for ten days.';
COMMENT ON COLUMN tidegate.function_runs.taken_until IS 'When a run that nobody finished counts as lost.';
COMMENT ON COLUMN tidegate.function_runs.result IS 'What the function returned, as canonical Extended JSON.';
COMMENT ON COLUMN tidegate.function_runs.request_id IS 'The id under which the gateway''s log has the run.';

CREATE FUNCTION tidegate.run_function(app text, name text, args anycompatible DEFAULT '[]'::text) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json;
    made bigint;
BEGIN
    PERFORM tidegate.check_function('name', target, name);
    IF args IS NULL THEN PERFORM tidegate.refuse('args', 'must not be null'); END IF;
    BEGIN
        parsed := args::text::json;
    EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
        PERFORM tidegate.refuse('args', 'is not valid JSON');
    END;
    IF json_typeof(parsed) <> 'array' THEN
        PERFORM tidegate.refuse('args', 'must be an array of the arguments');
    END IF;
    INSERT INTO tidegate.function_runs (app, name, arguments) VALUES (target, run_function.name, parsed)
        RETURNING id INTO made;
    PERFORM pg_notify('tidegate_function_runs', '');
    RETURN made;
END
$$;
COMMENT ON FUNCTION tidegate.run_function(text, text, anycompatible) IS
    'Asks a gateway to run a function as the system, with an array of arguments in Extended JSON, once this transaction is committed; returns the number of the run, of which tidegate.function_result tells. CALL tidegate.call_function does both and waits.';

CREATE FUNCTION tidegate.function_result(run bigint)
    RETURNS TABLE (state text, result json, error text, messages text[])
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT r.state, r.result, r.error, r.messages FROM tidegate.function_runs r WHERE r.id = run;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('run', format('%s does not exist', coalesce(run::text, 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.function_result(bigint) IS
    'What became of a run: waiting, running, done with its result, or failed with its error; and its console lines.';

-- A procedure that commits may have no SET clause and no definer's rights: all names are written out.
CREATE PROCEDURE tidegate.call_function(
    app text, name text, args text DEFAULT '[]', patience interval DEFAULT '5 minutes',
    INOUT result json DEFAULT NULL, INOUT messages text[] DEFAULT NULL)
    LANGUAGE plpgsql
AS $$
DECLARE
    run bigint := tidegate.run_function(app, name, args);
    over timestamptz := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) patience;
    state text;
    error text;
BEGIN
    COMMIT;
    LOOP
        SELECT r.state, r.result, r.error, r.messages INTO state, result, error, messages
            FROM tidegate.function_result(run) r;
        COMMIT;
        EXIT WHEN state OPERATOR(pg_catalog.=) ANY (ARRAY['done', 'failed']);
        IF pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) over THEN
            RAISE EXCEPTION 'run % is still %', run, state
                USING ERRCODE = 'query_canceled', HINT = 'select * from tidegate.function_result(' || run || ');';
        END IF;
        PERFORM pg_catalog.pg_sleep(0.05);
    END LOOP;
    IF state OPERATOR(pg_catalog.=) 'failed' THEN
        RAISE EXCEPTION 'function % failed: %', name, error USING ERRCODE = 'external_routine_exception';
    END IF;
END
$$;
COMMENT ON PROCEDURE tidegate.call_function(text, text, text, interval, json, text[]) IS
    'Runs a function as the system and waits for its result: CALL tidegate.call_function(''shop'', ''sum'', ''[1, 2]''). Not within a transaction block.';

CREATE FUNCTION tidegate.claim_function_run(seconds integer, request_id text)
    RETURNS TABLE (run bigint, app text, name text, arguments text)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE tidegate.function_runs r
        SET state = 'failed', finished_at = now(), code = 'InternalServerError',
            error = 'the gateway that ran it ended; how far it came is not known'
        WHERE r.state = 'running' AND r.taken_until < now();
    RETURN QUERY
        UPDATE tidegate.function_runs r
        SET state = 'running', taken_until = now() + make_interval(secs => seconds),
            request_id = claim_function_run.request_id
        WHERE r.id = (SELECT w.id FROM tidegate.function_runs w WHERE w.state = 'waiting'
                      ORDER BY w.id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING r.id, r.app, r.name, r.arguments::text;
END
$$;
COMMENT ON FUNCTION tidegate.claim_function_run(integer, text) IS
    'For the gateway: a run that was asked for, which nobody else gets any more.';

CREATE FUNCTION tidegate.finish_function_run(run bigint, result json, error text, code text, messages text[])
    RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ UPDATE tidegate.function_runs r
          SET state = CASE WHEN finish_function_run.error IS NULL THEN 'done' ELSE 'failed' END, finished_at = now(),
              taken_until = NULL, result = finish_function_run.result, error = finish_function_run.error,
              code = finish_function_run.code, messages = finish_function_run.messages
          WHERE r.id = run AND r.state = 'running' $$;
COMMENT ON FUNCTION tidegate.finish_function_run(bigint, json, text, text, text[]) IS
    'For the gateway: what became of a run that it claimed.';

CREATE FUNCTION tidegate.trim_function_runs() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM tidegate.function_runs r
        WHERE r.state IN ('done', 'failed') AND r.finished_at < now() - interval '10 days';
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
COMMENT ON FUNCTION tidegate.trim_function_runs() IS 'Removes runs that ended ten days ago; gateways call it hourly.';

-- Functions of an app -----------------------------------------------------------------------------------

COMMENT ON FUNCTION tidegate.set_function(text, text, text, anycompatible) IS
    'Sets a function: its JavaScript source and its settings, {"private": true} and so on as in functions/config.json. Gateways parse the source when they load it: one that does not parse leaves the version before it in force, with file, line and column in tidegate.config_errors.';

-- Confirmation and reset by function --------------------------------------------------------------------

CREATE FUNCTION tidegate.register_for_function(
    app text, username text, hash text, identity_id text, token_id text, digest bytea, lifetime interval) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO tidegate.password_hashes (app, username, hash, identity_id)
        VALUES (register_for_function.app, register_for_function.username, register_for_function.hash,
                register_for_function.identity_id)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO tidegate.user_tokens (id, app, username, purpose, digest, expires_at)
        VALUES (token_id, register_for_function.app, register_for_function.username, 'confirm',
                register_for_function.digest, now() + lifetime);
    RETURN true;
END
$$;
COMMENT ON FUNCTION tidegate.register_for_function(text, text, text, text, text, bytea, interval) IS
    'For the gateway: a registration that a function is about to decide on; false when the name is taken.';

CREATE FUNCTION tidegate.withdraw_registration(app text, token_id text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ DELETE FROM tidegate.password_hashes p USING tidegate.user_tokens t
          WHERE t.id = token_id AND t.app = $1 AND t.purpose = 'confirm' AND p.app = t.app
            AND p.username = t.username AND p.confirmed_at IS NULL $$;
COMMENT ON FUNCTION tidegate.withdraw_registration(text, text) IS
    'For the gateway: removes a registration that its function refused; the name is free again.';

CREATE FUNCTION tidegate.issue_function_token(
    app text, username text, purpose text, token_id text, digest bytea, lifetime interval) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    confirmed timestamptz;
BEGIN
    SELECT p.confirmed_at INTO confirmed FROM tidegate.password_hashes p
        WHERE p.app = issue_function_token.app AND p.username = issue_function_token.username;
    IF NOT FOUND OR (purpose = 'reset' AND confirmed IS NULL) THEN RETURN 'unknown'; END IF;
    IF purpose = 'confirm' AND confirmed IS NOT NULL THEN RETURN 'confirmed'; END IF;
    INSERT INTO tidegate.user_tokens (id, app, username, purpose, digest, expires_at)
        VALUES (token_id, issue_function_token.app, issue_function_token.username, issue_function_token.purpose,
                issue_function_token.digest, now() + lifetime);
    RETURN 'good';
END
$$;
COMMENT ON FUNCTION tidegate.issue_function_token(text, text, text, text, bytea, interval) IS
    'For the gateway: a token that the function for confirmation or reset is given: good, unknown or confirmed.';

CREATE FUNCTION tidegate.revoke_user_token(app text, token_id text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ UPDATE tidegate.user_tokens t SET used_at = now()
          WHERE t.id = token_id AND t.app = $1 AND t.used_at IS NULL $$;
COMMENT ON FUNCTION tidegate.revoke_user_token(text, text) IS 'For the gateway: a token that is good for nothing any more.';

-- Rights ------------------------------------------------------------------------------------------------

ALTER TABLE tidegate.function_runs OWNER TO tidegate_owner;
GRANT SELECT ON tidegate.function_runs TO tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    object record;
    for_gateway text[] := ARRAY['claim_function_run', 'finish_function_run', 'trim_function_runs',
        'register_for_function', 'withdraw_registration', 'issue_function_token', 'revoke_user_token'];
    for_admin text[] := ARRAY['run_function', 'function_result', 'function_logs'];
BEGIN
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace AND p.proname = ANY (for_gateway || for_admin)
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short = ANY (for_gateway) THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        ELSE
            EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER', object.name);
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
            IF object.short <> 'run_function' THEN
                EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_readonly', object.name);
            END IF;
        END IF;
    END LOOP;
END
$$;
ALTER PROCEDURE tidegate.call_function(text, text, text, interval, json, text[]) OWNER TO tidegate_owner;
REVOKE ALL ON PROCEDURE tidegate.call_function(text, text, text, interval, json, text[]) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE tidegate.call_function(text, text, text, interval, json, text[]) TO tidegate_admin;
