-- The request log: one row per request that changed something, failed or was denied, and a share of the
-- others. Gateways write it in batches; an operator reads it in psql, by request id, app, user or code.
--
-- A day is a partition, so that forgetting one is a DROP. A sweep, run by every gateway at start and each
-- hour, makes the days that come and drops those that are over; an advisory lock lets one work at a time.
-- Rows of a day that nobody has made go to `logs_rest`, and into the day's partition once it is made: a
-- clock that is wrong, or a sweep that did not run, loses nothing.
--
-- What a row may hold: names, ids, codes and the reason of a refusal without the values that the caller or
-- a document gave. No credential, header, query string or body.

-- Tables ------------------------------------------------------------------------------------------------

CREATE TABLE tidegate.logs (
    at          timestamptz NOT NULL DEFAULT now(),
    type        text NOT NULL,
    app         text,
    user_id     text,
    method      text NOT NULL,
    route       text NOT NULL,
    operation   text,
    namespace   text,
    status      integer NOT NULL,
    code        text,
    role        text,
    reason      text,
    duration_ms numeric(12, 3) NOT NULL,
    database_ms numeric(12, 3) NOT NULL,
    statements  integer NOT NULL,
    request_id  text NOT NULL,
    address     text
) PARTITION BY RANGE (at);
CREATE TABLE tidegate.logs_rest PARTITION OF tidegate.logs DEFAULT;
CREATE INDEX logs_request_id ON tidegate.logs (request_id);
CREATE INDEX logs_app_at ON tidegate.logs (app, at);
CREATE INDEX logs_failed ON tidegate.logs (app, at) WHERE status >= 400;
CREATE INDEX logs_slow ON tidegate.logs (app, duration_ms);

COMMENT ON TABLE tidegate.logs IS
    'One row per request that changed something, failed or was denied, and a share of the others (--log-sample). Partitioned by day (UTC), kept as long as --log-retention says. Holds no credentials, bodies or values of documents.';
COMMENT ON TABLE tidegate.logs_rest IS
    'Rows of tidegate.logs whose day has no partition; the sweep moves them into one. Nearly always empty.';
COMMENT ON COLUMN tidegate.logs.at IS 'When the request came, by the clock of this database.';
COMMENT ON COLUMN tidegate.logs.type IS
    'ENDPOINT for the Data API, AUTH for logins and sessions, API for everything else: the names of the hosted service.';
COMMENT ON COLUMN tidegate.logs.app IS 'The app id in the URL, for example todo-abcde; null when the request names no app that exists.';
COMMENT ON COLUMN tidegate.logs.user_id IS 'The caller, once known; null for the system and for callers whose credentials were refused.';
COMMENT ON COLUMN tidegate.logs.method IS 'The HTTP method.';
COMMENT ON COLUMN tidegate.logs.route IS 'The pattern of the path, never the path; none when no route fits.';
COMMENT ON COLUMN tidegate.logs.operation IS 'What was asked: findOne, updateMany, login local-userpass.';
COMMENT ON COLUMN tidegate.logs.namespace IS 'database.collection, as the caller named it.';
COMMENT ON COLUMN tidegate.logs.status IS 'The HTTP status of the answer.';
COMMENT ON COLUMN tidegate.logs.code IS 'error_code of the answer; null for success.';
COMMENT ON COLUMN tidegate.logs.role IS 'The role that decided; null where several could, or none did.';
COMMENT ON COLUMN tidegate.logs.reason IS
    'Why the request failed, more precisely than the caller was told. An ellipsis stands for what a caller sent or a document holds.';
COMMENT ON COLUMN tidegate.logs.duration_ms IS 'From the head of the request to its answer, in milliseconds.';
COMMENT ON COLUMN tidegate.logs.database_ms IS 'Of that, waiting for PostgreSQL on behalf of the data.';
COMMENT ON COLUMN tidegate.logs.statements IS 'How often the request went to PostgreSQL for data.';
COMMENT ON COLUMN tidegate.logs.request_id IS 'What the answer carries in X-Appservices-Request-Id, and an error as co_id in its link.';
COMMENT ON COLUMN tidegate.logs.address IS 'The client''s address; a trusted proxy''s word for it counts.';

-- The sweep ---------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.check_span(field text, span interval) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF span IS NULL THEN
        PERFORM tidegate.refuse(field, 'must not be null');
    ELSIF span < interval '0' THEN
        PERFORM tidegate.refuse(field, 'must not be negative');
    ELSIF span > interval '100 years' THEN
        PERFORM tidegate.refuse(field, 'must not be longer than 100 years');
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_span(text, interval) IS 'Error 22023 when a span of time is null, negative or too long.';

CREATE FUNCTION tidegate.prepare_log_day(day date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '2s'
AS $$
DECLARE
    name text := 'logs_' || to_char(day, 'YYYY_MM_DD');
    first timestamptz := day::timestamp AT TIME ZONE 'UTC';
    next timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
    IF to_regclass('tidegate.' || name) IS NOT NULL THEN
        RETURN false;
    END IF;
    -- Attached, not created in place: that would lock out all who write. Only `logs_rest`, where hardly
    -- anybody writes, is closed for the moment.
    LOCK TABLE tidegate.logs_rest IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('CREATE TABLE tidegate.%I (LIKE tidegate.logs INCLUDING ALL)', name);
    EXECUTE format('WITH moved AS (DELETE FROM tidegate.logs_rest WHERE at >= $1 AND at < $2 RETURNING *) '
                   'INSERT INTO tidegate.%I SELECT * FROM moved', name) USING first, next;
    EXECUTE format('ALTER TABLE tidegate.logs ATTACH PARTITION tidegate.%I FOR VALUES FROM (%L) TO (%L)',
        name, first, next);
    EXECUTE format('COMMENT ON TABLE tidegate.%I IS %L', name,
        format('Rows of tidegate.logs of %s, UTC.', to_char(day, 'YYYY-MM-DD')));
    RETURN true;
END
$$;
COMMENT ON FUNCTION tidegate.prepare_log_day(date) IS
    'Makes the partition of one day of tidegate.logs, with what lies in logs_rest of it; false when it is there.';

CREATE FUNCTION tidegate.trim_logs(keep interval) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '2s'
AS $$
DECLARE
    part record;
    oldest_kept timestamptz := now() - keep;
    removed integer := 0;
BEGIN
    PERFORM tidegate.check_span('keep', keep);
    PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.logs', 0));
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'tidegate.logs'::regclass AND c.relname ~ '^logs_\d{4}_\d{2}_\d{2}$'
          AND (to_date(right(c.relname, 10), 'YYYY_MM_DD') + 1)::timestamp AT TIME ZONE 'UTC' <= oldest_kept
        ORDER BY c.relname
    LOOP
        EXECUTE format('DROP TABLE tidegate.%I', part.relname);
        removed := removed + 1;
    END LOOP;
    DELETE FROM tidegate.logs_rest WHERE at < oldest_kept;
    RETURN removed;
END
$$;
COMMENT ON FUNCTION tidegate.trim_logs(interval) IS
    'Drops the days of tidegate.logs that ended longer ago than this, and returns how many. Gateways do it each hour with --log-retention.';

CREATE FUNCTION tidegate.sweep_logs(keep interval) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '2s'
AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    PERFORM tidegate.check_span('keep', keep);
    IF NOT pg_try_advisory_xact_lock(hashtextextended('tidegate.logs', 0)) THEN
        RETURN NULL;
    END IF;
    -- Days ahead last over a weekend on which no gateway runs; yesterday is for rows that waited.
    FOR ahead IN -1 .. 3 LOOP
        PERFORM tidegate.prepare_log_day(today + ahead);
    END LOOP;
    RETURN tidegate.trim_logs(keep);
END
$$;
COMMENT ON FUNCTION tidegate.sweep_logs(interval) IS
    'What gateways run each hour: makes the next days of tidegate.logs and drops those older than this. Returns how many were dropped, null when another session is at it.';

-- Questions ---------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.log_app(app text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF app IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT a.client_app_id FROM tidegate.apps a WHERE a.id = tidegate.app_id(log_app.app));
END
$$;
COMMENT ON FUNCTION tidegate.log_app(text) IS
    'The client app id, as tidegate.logs has it, of an app given by internal id, client app id or name; null for null. Error 22023 when there is none.';

CREATE FUNCTION tidegate.find_request(request_id text) RETURNS SETOF tidegate.logs
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF request_id IS NULL OR request_id !~ '^[0-9a-f]{24}$' THEN
        PERFORM tidegate.refuse('request_id', 'must be 24 hexadecimal digits');
    END IF;
    RETURN QUERY SELECT l.* FROM tidegate.logs l WHERE l.request_id = find_request.request_id;
END
$$;
COMMENT ON FUNCTION tidegate.find_request(text) IS
    'The row of one request, by X-Appservices-Request-Id or the co_id of an error''s link.';

CREATE FUNCTION tidegate.list_logs(
    app text DEFAULT NULL, since interval DEFAULT '1 hour', errors_only boolean DEFAULT false,
    user_id text DEFAULT NULL, "limit" integer DEFAULT 100
) RETURNS SETOF tidegate.logs
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted text := tidegate.log_app(app);
BEGIN
    PERFORM tidegate.check_span('since', since);
    IF "limit" IS NULL OR "limit" < 1 THEN
        PERFORM tidegate.refuse('limit', 'must be at least 1');
    END IF;
    RETURN QUERY SELECT l.* FROM tidegate.logs l
        WHERE l.at >= now() - since AND (wanted IS NULL OR l.app = wanted)
          AND (errors_only IS NOT TRUE OR l.status >= 400)
          AND (list_logs.user_id IS NULL OR l.user_id = list_logs.user_id)
        ORDER BY l.at DESC, l.request_id DESC LIMIT "limit";
END
$$;
COMMENT ON FUNCTION tidegate.list_logs(text, interval, boolean, text, integer) IS
    'The newest requests of an app (null: of all), on demand only the failed ones, or those of one user.';

CREATE FUNCTION tidegate.recent_denials(app text, since interval DEFAULT '1 hour') RETURNS SETOF tidegate.logs
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted text := tidegate.log_app(app);
BEGIN
    PERFORM tidegate.check_span('since', since);
    RETURN QUERY SELECT l.* FROM tidegate.logs l
        WHERE l.at >= now() - since AND (wanted IS NULL OR l.app = wanted) AND l.status >= 400
          AND (l.status IN (401, 403, 429) OR l.code IN ('NoMatchingRuleFound', 'SchemaValidationFailedWrite'))
        ORDER BY l.at DESC, l.request_id DESC;
END
$$;
COMMENT ON FUNCTION tidegate.recent_denials(text, interval) IS
    'Requests of an app (null: of all) that rules, schemas, credentials or rate limits refused, newest first; role and reason say by what.';

CREATE FUNCTION tidegate.slow_requests(
    app text, at_least interval DEFAULT '1 second', since interval DEFAULT '1 hour'
) RETURNS SETOF tidegate.logs
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted text := tidegate.log_app(app);
BEGIN
    PERFORM tidegate.check_span('at_least', at_least);
    PERFORM tidegate.check_span('since', since);
    RETURN QUERY SELECT l.* FROM tidegate.logs l
        WHERE l.at >= now() - since AND (wanted IS NULL OR l.app = wanted)
          AND l.duration_ms >= extract(epoch FROM at_least) * 1000
        ORDER BY l.duration_ms DESC;
END
$$;
COMMENT ON FUNCTION tidegate.slow_requests(text, interval, interval) IS
    'Requests of an app (null: of all) that took at least this long, the slowest first. Fast reads are only sampled, slow ones too: see --log-sample.';

CREATE FUNCTION tidegate.errors_by_code(app text DEFAULT NULL, since interval DEFAULT '1 hour')
    RETURNS TABLE (
        code text, status integer, requests bigint, users bigint, addresses bigint, last_at timestamptz,
        last_reason text, last_request_id text
    )
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    wanted text := tidegate.log_app(errors_by_code.app);
BEGIN
    PERFORM tidegate.check_span('since', errors_by_code.since);
    RETURN QUERY SELECT l.code, l.status, count(*), count(DISTINCT l.user_id), count(DISTINCT l.address),
            max(l.at), (array_agg(l.reason ORDER BY l.at DESC))[1], (array_agg(l.request_id ORDER BY l.at DESC))[1]
        FROM tidegate.logs l
        WHERE l.at >= now() - errors_by_code.since AND (wanted IS NULL OR l.app = wanted) AND l.status >= 400
        GROUP BY l.code, l.status ORDER BY count(*) DESC, max(l.at) DESC;
END
$$;
COMMENT ON FUNCTION tidegate.errors_by_code(text, interval) IS
    'What fails: failures of an app (null: of all) by code and status, with how many users and addresses, and the newest one of each.';

CREATE FUNCTION tidegate.failing_addresses(app text DEFAULT NULL, since interval DEFAULT '1 hour')
    RETURNS TABLE (
        address text, requests bigint, logins bigint, users bigint, first_at timestamptz, last_at timestamptz,
        codes text[]
    )
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    wanted text := tidegate.log_app(failing_addresses.app);
BEGIN
    PERFORM tidegate.check_span('since', failing_addresses.since);
    RETURN QUERY SELECT l.address, count(*), count(*) FILTER (WHERE l.status = 401),
            count(DISTINCT l.user_id), min(l.at), max(l.at), array_agg(DISTINCT l.code)
        FROM tidegate.logs l
        WHERE l.at >= now() - failing_addresses.since AND (wanted IS NULL OR l.app = wanted) AND l.status >= 400
        GROUP BY l.address ORDER BY count(*) DESC LIMIT 100;
END
$$;
COMMENT ON FUNCTION tidegate.failing_addresses(text, interval) IS
    'Where failures come from: the hundred addresses with the most, and how many were refused credentials (logins).';

-- Privileges --------------------------------------------------------------------------------------------

GRANT INSERT, SELECT ON tidegate.logs TO tidegate_gateway;
GRANT SELECT ON tidegate.logs TO tidegate_admin, tidegate_readonly;

ALTER TABLE tidegate.logs OWNER TO tidegate_owner;
ALTER TABLE tidegate.logs_rest OWNER TO tidegate_owner;

DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('check_span', 'prepare_log_day', 'trim_logs', 'sweep_logs', 'log_app', 'find_request',
                            'list_logs', 'recent_denials', 'slow_requests', 'errors_by_code', 'failing_addresses')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short = 'prepare_log_day' THEN CONTINUE; END IF;
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin, tidegate_gateway', object.name);
        IF object.short NOT IN ('trim_logs', 'sweep_logs') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_readonly', object.name);
        END IF;
    END LOOP;
END
$$;

-- The first days; by the function's owner, to whom they then belong.
SELECT tidegate.sweep_logs('10 days');
