-- set_function has a gateway parse the source before it is set, within the caller's transaction.
--
-- What a transaction writes is seen by others, and what it notifies is heard, when it has ended; a refusal has to come before.
-- Sequences are the one thing that changes at once, for everybody, whatever becomes of the transaction. So sources and what is
-- wrong with them are handed over as numbers in sequences, block by block.

-- Before, a procedure of its own parsed first, and was no part of a transaction.
DROP PROCEDURE tidegate.deploy_function(text, text, text, text, interval);
DROP FUNCTION tidegate.parse_function(text, text, text, anycompatible);
DROP FUNCTION tidegate.claim_function_check(integer);
DELETE FROM tidegate.function_runs WHERE source IS NOT NULL;
ALTER TABLE tidegate.function_runs DROP COLUMN source;

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
        WHERE r.id = (SELECT w.id FROM tidegate.function_runs w WHERE w.state = 'waiting'
                      ORDER BY w.id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING r.id, r.app, r.name, r.arguments::text;
END
$$;

-- Messages ----------------------------------------------------------------------------------------------
--
-- Two ways, each with one message at a time: `question` from whoever sets a function, `answer` from a gateway. A message is
-- said in blocks of 512 bytes: the words, which part of the message it is and how many bytes are still to come, then the
-- number of the block. Whoever hears it writes that number down, and the next block follows.

CREATE SCHEMA tidegate_exchange;
COMMENT ON SCHEMA tidegate_exchange IS
    'Sequences through which a transaction and a gateway speak with each other while it is under way; nothing lasting is in it.';
CREATE UNLOGGED SEQUENCE tidegate_exchange.numbers;
COMMENT ON SEQUENCE tidegate_exchange.numbers IS 'Numbers of questions and of blocks.';
CREATE UNLOGGED SEQUENCE tidegate_exchange.present;
COMMENT ON SEQUENCE tidegate_exchange.present IS 'When a gateway last listened, in milliseconds since 1970.';
DO $$
DECLARE
    way text;
    member text;
BEGIN
    FOREACH way IN ARRAY ARRAY['question', 'answer'] LOOP
        FOREACH member IN ARRAY ARRAY['said', 'heard', 'part', 'rest'] LOOP
            EXECUTE format('CREATE UNLOGGED SEQUENCE tidegate_exchange.%s_%s MINVALUE 0', way, member);
        END LOOP;
        FOR word IN 0..63 LOOP
            EXECUTE format(
                'CREATE UNLOGGED SEQUENCE tidegate_exchange.%s_%s MINVALUE -9223372036854775808', way, word);
        END LOOP;
    END LOOP;
END
$$;

CREATE FUNCTION tidegate_exchange.read(way text, member text) RETURNS bigint
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    RETURN pg_sequence_last_value(('tidegate_exchange.' || way || '_' || member)::regclass);
COMMENT ON FUNCTION tidegate_exchange.read(text, text) IS 'The number in a sequence; null when none was ever written.';

CREATE FUNCTION tidegate_exchange.write(way text, member text, number bigint) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT setval(('tidegate_exchange.' || way || '_' || member)::regclass, number) $$;
COMMENT ON FUNCTION tidegate_exchange.write(text, text, bigint) IS 'Writes the number in a sequence.';

CREATE FUNCTION tidegate_exchange.say(way text, message text, until timestamptz) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bytes bytea := convert_to(message, 'UTF8');
    rest integer := octet_length(bytes);
    part integer := 0;
    block bigint;
BEGIN
    -- Who still reads what somebody gave up on notices by this that the words change.
    PERFORM tidegate_exchange.write(way, 'said', 0);
    LOOP
        PERFORM tidegate_exchange.write(
                way, word::text, ('x' || encode(substr(bytes, part * 512 + word * 8 + 1, 8), 'hex'))::bit(64)::bigint)
            FROM generate_series(0, (least(rest, 512) - 1) / 8) word;
        PERFORM tidegate_exchange.write(way, 'part', part), tidegate_exchange.write(way, 'rest', rest);
        block := nextval('tidegate_exchange.numbers');
        PERFORM tidegate_exchange.write(way, 'said', block);
        WHILE tidegate_exchange.read(way, 'heard') IS DISTINCT FROM block LOOP
            IF clock_timestamp() > until THEN RETURN false; END IF;
            PERFORM pg_sleep(0.001);
        END LOOP;
        rest := rest - 512;
        part := part + 1;
        IF rest <= 0 THEN RETURN true; END IF;
        -- Who listens goes on doing so, however long the message is.
        until := greatest(until, clock_timestamp() + interval '2 seconds');
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate_exchange.say(text, text, timestamptz) IS
    'Says a message of at least one byte; false when nobody has heard it to its end by then. One session at a time says something on one way.';

CREATE FUNCTION tidegate_exchange.hear(way text, until timestamptz) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bytes bytea;
    words bytea;
    block bigint;
    part bigint;
    rest bigint;
BEGIN
    LOOP
        LOOP
            block := tidegate_exchange.read(way, 'said');
            EXIT WHEN block > 0 AND block IS DISTINCT FROM tidegate_exchange.read(way, 'heard');
            IF clock_timestamp() >= until THEN RETURN NULL; END IF;
            PERFORM pg_sleep(0.001);
        END LOOP;
        part := tidegate_exchange.read(way, 'part');
        rest := tidegate_exchange.read(way, 'rest');
        SELECT string_agg(int8send(tidegate_exchange.read(way, word::text)), ''::bytea ORDER BY word) INTO words
            FROM generate_series(0, (least(rest, 512) - 1) / 8) word;
        -- Of a message whose beginning was missed, or that is not said any more, nothing is kept.
        CONTINUE WHEN tidegate_exchange.read(way, 'said') <> block;
        bytes := CASE WHEN part = 0 THEN ''::bytea WHEN octet_length(bytes) = part * 512 THEN bytes END
            || substr(words, 1, least(rest, 512)::integer);
        PERFORM tidegate_exchange.write(way, 'heard', block);
        IF rest <= 512 AND bytes IS NOT NULL THEN RETURN convert_from(bytes, 'UTF8'); END IF;
        until := greatest(until, clock_timestamp() + interval '2 seconds');
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate_exchange.hear(text, timestamptz) IS
    'The message that is said, or that begins by then; null when none does. One session at a time hears what is said on one way.';

-- Sources -----------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.parse_source(
    name text, source text, script text DEFAULT NULL, patience interval DEFAULT '10 seconds',
    OUT is_parsed boolean, OUT fault text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    listened timestamptz := to_timestamp(pg_sequence_last_value('tidegate_exchange.present') / 1000.0);
    question bigint;
    until timestamptz;
    answer json;
BEGIN
    PERFORM tidegate.check_name('name', name, 256);
    PERFORM tidegate.check_span('patience', patience);
    IF source IS NULL OR source !~ '[^[:space:]]' THEN
        PERFORM tidegate.refuse('source', 'must not be empty');
    ELSIF script !~ '[^[:space:]]' THEN
        PERFORM tidegate.refuse('script', 'must not be empty');
    END IF;
    is_parsed := false;
    IF listened IS NULL OR listened < clock_timestamp() - interval '3 seconds' THEN RETURN; END IF;
    -- The lock ends with this block, and not with the transaction, which may take long.
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.parse_source', 0));
        question := nextval('tidegate_exchange.numbers');
        IF tidegate_exchange.say('question', json_build_object(
                'question', question, 'name', name, 'source', source, 'script', script)::text,
                clock_timestamp() + least(patience, interval '3 seconds')) THEN
            until := clock_timestamp() + patience;
            -- Another question's answer may come late.
            LOOP
                answer := tidegate_exchange.hear('answer', until)::json;
                EXIT WHEN answer IS NULL OR (answer ->> 'question')::bigint = question;
            END LOOP;
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'TG000';
    EXCEPTION
        WHEN SQLSTATE 'TG000' THEN
    END;
    is_parsed := coalesce((answer ->> 'is_parsed')::boolean, false);
    fault := answer ->> 'fault';
END
$$;
COMMENT ON FUNCTION tidegate.parse_source(text, text, text, interval) IS
    'Has a running gateway parse a function''s source, and the script that names whom it runs as, and sets nothing: what is wrong with file, line and column, or null; is_parsed is false when no gateway runs or none has answered in time.';

CREATE FUNCTION tidegate.take_source() RETURNS TABLE (question bigint, name text, source text, script text)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    message text;
BEGIN
    PERFORM setval('tidegate_exchange.present', (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    IF NOT pg_try_advisory_xact_lock(hashtextextended('tidegate.take_source', 0)) THEN RETURN; END IF;
    message := tidegate_exchange.hear('question', clock_timestamp());
    IF message IS NOT NULL THEN
        RETURN QUERY SELECT m.question, m.name, m.source, m.script
            FROM json_to_record(message::json) m (question bigint, name text, source text, script text);
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.take_source() IS
    'For the gateway: a source that is to be parsed, which nobody else gets. To be called again and again: it also says that somebody listens.';

CREATE FUNCTION tidegate.answer_source(question bigint, is_parsed boolean, fault text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.answer_source', 0));
    PERFORM tidegate_exchange.say(
        'answer', json_build_object('question', question, 'is_parsed', is_parsed, 'fault', fault)::text,
        clock_timestamp() + interval '2 seconds');
END
$$;
COMMENT ON FUNCTION tidegate.answer_source(bigint, boolean, text) IS
    'For the gateway: whether it could parse a source, and what is wrong with that.';

CREATE OR REPLACE FUNCTION tidegate.set_function(
    app text, name text, source text, config anycompatible DEFAULT '{}'::text)
    RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json;
    script text;
    checked record;
BEGIN
    parsed := tidegate.read_object('config', config::text);
    script := parsed ->> 'run_as_user_id_script_source';
    PERFORM tidegate.check_name('name', name, 256);
    -- An export writes functions/<name>.js.
    IF name !~ '^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$' THEN
        PERFORM tidegate.refuse('name', 'may hold only letters, digits, _, - and ., in parts with / between');
    ELSIF source IS NULL OR source !~ '[^[:space:]]' THEN
        PERFORM tidegate.refuse('source', 'must not be empty');
    END IF;
    PERFORM tidegate.check_keys('config', parsed, ARRAY[
        'name', 'private', 'run_as_system', 'run_as_user_id', 'run_as_user_id_script_source', 'can_evaluate',
        'can_evaluate_expression', 'disable_arg_logs', 'fetch_custom_user_data', 'last_modified']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['private', 'run_as_system', 'disable_arg_logs',
                                                        'fetch_custom_user_data'], ARRAY['boolean']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['run_as_user_id', 'run_as_user_id_script_source'], ARRAY['string']);
    PERFORM tidegate.check_types('config', parsed, 'can_evaluate', ARRAY['object', 'boolean']);
    IF coalesce(parsed ->> 'name', name) <> name THEN
        PERFORM tidegate.refuse('config.name', 'must be the function''s name');
    END IF;
    -- Before anything is locked, since it may take a moment.
    checked := tidegate.parse_source(name, source, CASE WHEN script ~ '[^[:space:]]' THEN script END);
    IF checked.fault IS NOT NULL THEN
        PERFORM tidegate.refuse(
            CASE WHEN starts_with(checked.fault, 'functions/config.json') THEN 'config' ELSE 'source' END, checked.fault);
    ELSIF NOT checked.is_parsed THEN
        RAISE WARNING 'the source of % was not parsed, since no gateway is there to do so', name
            USING HINT = 'A gateway parses it when it loads the app. tidegate.list_config_errors tells of what it does not take.';
    END IF;
    INSERT INTO tidegate.functions AS f (app, name, config, source)
        VALUES (target, set_function.name,
                (jsonb_build_object('name', set_function.name, 'private', false) || parsed::jsonb)::json,
                set_function.source)
        ON CONFLICT ON CONSTRAINT functions_pkey DO UPDATE SET config = excluded.config, source = excluded.source;
EXCEPTION
    WHEN statement_too_complex THEN PERFORM tidegate.refuse('config', 'is nested too deeply');
    WHEN untranslatable_character THEN PERFORM tidegate.refuse('config', 'holds U+0000, which cannot be stored');
END
$$;
COMMENT ON FUNCTION tidegate.set_function(text, text, text, anycompatible) IS
    'Sets a function: its JavaScript source and its settings, {"private": true} and so on as in functions/config.json. A running gateway parses the source first: one that does not parse is refused with file, line and column. Without a gateway it is set with a warning; one that does not parse then leaves the version before it in force, and tidegate.config_errors says why.';

-- Rights ------------------------------------------------------------------------------------------------

DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relnamespace = 'tidegate_exchange'::regnamespace AND c.relkind = 'S'
    LOOP
        EXECUTE format('ALTER SEQUENCE %s OWNER TO tidegate_owner', object.name);
    END LOOP;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short, p.pronamespace = 'tidegate'::regnamespace AS is_public
        FROM pg_proc p WHERE p.pronamespace = 'tidegate_exchange'::regnamespace
            OR p.pronamespace = 'tidegate'::regnamespace AND p.proname IN ('parse_source', 'take_source', 'answer_source')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.is_public THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', object.name,
                           CASE object.short WHEN 'parse_source' THEN 'tidegate_admin' ELSE 'tidegate_gateway' END);
        END IF;
    END LOOP;
END
$$;
ALTER SCHEMA tidegate_exchange OWNER TO tidegate_owner;
