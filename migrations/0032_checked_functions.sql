-- Functions whose source a gateway has looked at before they are set.

-- A wish of another kind: a source that is parsed, and that nobody runs.
ALTER TABLE tidegate.function_runs ADD COLUMN source text;
COMMENT ON COLUMN tidegate.function_runs.source IS
    'A source that is to be parsed and not run, with the function''s settings as the only argument; null for a run.';

CREATE OR REPLACE FUNCTION tidegate.claim_function_run(seconds integer, request_id text)
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
        WHERE r.id = (SELECT w.id FROM tidegate.function_runs w WHERE w.state = 'waiting' AND w.source IS NULL
                      ORDER BY w.id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING r.id, r.app, r.name, r.arguments::text;
END
$$;

CREATE FUNCTION tidegate.claim_function_check(seconds integer)
    RETURNS TABLE (run bigint, name text, source text, script text)
    LANGUAGE sql SECURITY DEFINER ROWS 1
    SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE tidegate.function_runs r
        SET state = 'running', taken_until = now() + make_interval(secs => seconds)
        WHERE r.id = (SELECT w.id FROM tidegate.function_runs w WHERE w.state = 'waiting' AND w.source IS NOT NULL
                      ORDER BY w.id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING r.id, r.name, r.source, r.arguments -> 0 ->> 'run_as_user_id_script_source'
$$;
COMMENT ON FUNCTION tidegate.claim_function_check(integer) IS
    'For the gateway: sources that are to be parsed, which nobody else gets any more.';

CREATE FUNCTION tidegate.parse_function(app text, name text, source text, config anycompatible DEFAULT '{}'::text)
    RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made bigint;
BEGIN
    -- All else that is wrong with it is refused at once. Nothing stays of this, and no gateway hears of it.
    BEGIN
        PERFORM tidegate.set_function(app, name, source, config);
        RAISE EXCEPTION USING ERRCODE = 'TG000';
    EXCEPTION
        WHEN SQLSTATE 'TG000' THEN
        WHEN statement_too_complex THEN PERFORM tidegate.refuse('config', 'is nested too deeply');
        WHEN untranslatable_character THEN PERFORM tidegate.refuse('config', 'holds U+0000, which cannot be stored');
    END;
    INSERT INTO tidegate.function_runs (app, name, arguments, source)
        VALUES (tidegate.app_id(parse_function.app), parse_function.name, json_build_array(config::text::json),
                parse_function.source)
        RETURNING id INTO made;
    PERFORM pg_notify('tidegate_function_runs', '');
    RETURN made;
END
$$;
COMMENT ON FUNCTION tidegate.parse_function(text, text, text, anycompatible) IS
    'Asks a gateway to parse a function that set_function would take, once this transaction is committed; returns a number, of which tidegate.function_result tells: done when it parses, failed with file, line and column when not. CALL tidegate.deploy_function does both, waits, and sets it.';

-- A procedure that commits may have no SET clause and no definer's rights: all names are written out.
CREATE PROCEDURE tidegate.deploy_function(
    app text, name text, source text, config text DEFAULT '{}', patience interval DEFAULT '1 minute')
    LANGUAGE plpgsql
AS $$
DECLARE
    asked bigint := tidegate.parse_function(app, name, source, config);
    over timestamptz := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) patience;
    state text;
    fault text;
BEGIN
    COMMIT;
    LOOP
        SELECT r.state, r.error INTO state, fault FROM tidegate.function_result(asked) r;
        COMMIT;
        EXIT WHEN state OPERATOR(pg_catalog.=) ANY (ARRAY['done', 'failed']);
        -- Without a limit nobody would learn that no gateway runs.
        IF (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) over) IS NOT FALSE THEN
            RAISE EXCEPTION 'no gateway has parsed the source of %; nothing is set', name
                USING ERRCODE = 'query_canceled', HINT = 'tidegate.set_function sets it without.';
        END IF;
        PERFORM pg_catalog.pg_sleep(0.05);
    END LOOP;
    IF state OPERATOR(pg_catalog.=) 'failed' THEN
        IF pg_catalog.starts_with(fault, 'functions/config.json') THEN PERFORM tidegate.refuse('config', fault); END IF;
        IF pg_catalog.starts_with(fault, 'functions/') THEN PERFORM tidegate.refuse('source', fault); END IF;
        RAISE EXCEPTION 'the source of % was not parsed: %; nothing is set', name, fault
            USING ERRCODE = 'external_routine_exception';
    END IF;
    PERFORM tidegate.set_function(app, name, source, config);
END
$$;
COMMENT ON PROCEDURE tidegate.deploy_function(text, text, text, text, interval) IS
    'As set_function, once a gateway has parsed the source: one that does not parse is refused with file, line and column, and nothing is set. CALL tidegate.deploy_function(''shop'', ''sum'', ''exports = (a, b) => a + b''). Not within a transaction block.';
COMMENT ON FUNCTION tidegate.set_function(text, text, text, anycompatible) IS
    'Sets a function: its JavaScript source and its settings, {"private": true} and so on as in functions/config.json. Gateways parse the source when they load it: one that does not parse leaves the version before it in force, with file, line and column in tidegate.config_errors. CALL tidegate.deploy_function has it parsed first.';

ALTER FUNCTION tidegate.parse_function(text, text, text, anycompatible) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.parse_function(text, text, text, anycompatible) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.parse_function(text, text, text, anycompatible) TO tidegate_admin;
ALTER FUNCTION tidegate.claim_function_check(integer) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.claim_function_check(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.claim_function_check(integer) TO tidegate_gateway;
ALTER PROCEDURE tidegate.deploy_function(text, text, text, text, interval) OWNER TO tidegate_owner;
REVOKE ALL ON PROCEDURE tidegate.deploy_function(text, text, text, text, interval) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE tidegate.deploy_function(text, text, text, text, interval) TO tidegate_admin;
