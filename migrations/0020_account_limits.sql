-- Failed logins are counted by all gateways together; how long an app's sessions last can be set; mails that an app
-- sends are part of its export.

-- A token bucket for each key, kept as the time at which it will be full again. What it counts is told by a digest
-- alone. After a crash everybody has a full bucket.
CREATE UNLOGGED TABLE tidegate.attempt_buckets (
    key     text COLLATE "C" PRIMARY KEY CHECK (key ~ '^[0-9a-f]{32}$'),
    full_at timestamptz NOT NULL
);
CREATE INDEX attempt_buckets_age ON tidegate.attempt_buckets (full_at);
COMMENT ON TABLE tidegate.attempt_buckets IS
    'Failed logins and mails asked for, by digests of addresses and accounts: when each may try as often as at first again.';

CREATE FUNCTION tidegate.charge_attempts(keys text[], steps bigint[], bursts integer[])
    RETURNS TABLE (place integer, remaining bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bucket record;
    step interval;
    filled timestamptz;
    moment timestamptz := clock_timestamp();
BEGIN
    -- In one order for all, so that two that charge the same buckets do not wait for each other.
    FOR bucket IN SELECT * FROM unnest(keys, steps, bursts) WITH ORDINALITY AS b (k, us, burst, at) ORDER BY b.k LOOP
        step := bucket.us * interval '1 microsecond';
        INSERT INTO tidegate.attempt_buckets AS a (key, full_at) VALUES (bucket.k, moment + step)
            ON CONFLICT ON CONSTRAINT attempt_buckets_pkey DO UPDATE
            SET full_at = least(greatest(a.full_at, moment) + step, moment + (bucket.burst + 1) * step)
            RETURNING a.full_at INTO filled;
        place := bucket.at - 1;
        remaining := (extract(epoch FROM filled - moment) * 1000000)::bigint;
        -- Nothing is left of it: the other gateways are told, each turns the next try away by itself.
        IF remaining > (bucket.burst - 1) * bucket.us THEN
            PERFORM pg_notify('tidegate_attempts', bucket.k || ':' || remaining);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.charge_attempts(text[], bigint[], integer[]) IS
    'For gateways: takes a token of each bucket, which gets one every so many microseconds and holds so many, and tells in how many microseconds it will be full.';

CREATE FUNCTION tidegate.trim_attempts() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ DELETE FROM tidegate.attempt_buckets WHERE full_at < now() $$;
COMMENT ON FUNCTION tidegate.trim_attempts() IS 'For gateways: forgets buckets that are full.';

-- Sessions ----------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.set_refresh_token_lifetime(app text, lifetime interval) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    seconds double precision := extract(epoch FROM lifetime);
BEGIN
    IF seconds NOT BETWEEN 1800 AND 158112000 THEN
        PERFORM tidegate.refuse('lifetime', 'must be between 30 minutes and 5 years');
    END IF;
    UPDATE tidegate.apps a
        SET config = CASE WHEN seconds IS NULL THEN a.config::jsonb - 'refresh_token_lifetime_seconds'
            ELSE jsonb_set(a.config::jsonb, '{refresh_token_lifetime_seconds}', to_jsonb(seconds::bigint)) END::json
        WHERE a.id = target;
END
$$;
COMMENT ON FUNCTION tidegate.set_refresh_token_lifetime(text, interval) IS
    'How long a session lasts from its login: 30 minutes to 5 years; null goes back to 60 days. Sessions that stand keep their end.';

-- Privileges --------------------------------------------------------------------------------------------

ALTER TABLE tidegate.attempt_buckets OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.charge_attempts(text[], bigint[], integer[]) OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.trim_attempts() OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.set_refresh_token_lifetime(text, interval) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.charge_attempts(text[], bigint[], integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION tidegate.trim_attempts() FROM PUBLIC;
REVOKE ALL ON FUNCTION tidegate.set_refresh_token_lifetime(text, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.charge_attempts(text[], bigint[], integer[]) TO tidegate_gateway;
GRANT EXECUTE ON FUNCTION tidegate.trim_attempts() TO tidegate_gateway;
GRANT EXECUTE ON FUNCTION tidegate.set_refresh_token_lifetime(text, interval) TO tidegate_admin;
