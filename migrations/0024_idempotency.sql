-- A write that came with an `Idempotency-Key` is done once: its answer is kept for 24 hours, in the transaction of the
-- write itself, and given again to whoever repeats the request.

CREATE TABLE tidegate.idempotency_keys (
    app_id       text COLLATE "C" NOT NULL,
    user_id      text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    fingerprint  bytea NOT NULL,
    at           timestamptz NOT NULL DEFAULT now(),
    status       integer NOT NULL,
    content_type text NOT NULL,
    answer       text COMPRESSION lz4 NOT NULL,
    PRIMARY KEY (app_id, user_id, key)
);
CREATE INDEX idempotency_keys_age ON tidegate.idempotency_keys (at);
COMMENT ON TABLE tidegate.idempotency_keys IS
    'Answers to writes that came with an Idempotency-Key, by app, user and key, for 24 hours. Written in the transaction of the write.';
COMMENT ON COLUMN tidegate.idempotency_keys.user_id IS 'The caller; empty for the system.';
COMMENT ON COLUMN tidegate.idempotency_keys.fingerprint IS 'SHA-256 of what was asked: the same key with another one is refused.';
COMMENT ON COLUMN tidegate.idempotency_keys.answer IS 'The body of the answer, at most 1 MiB.';

CREATE FUNCTION tidegate.claim_idempotency_key(app text, caller text, name text, asked bytea)
    RETURNS TABLE (state text, status integer, content_type text, answer text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known tidegate.idempotency_keys;
BEGIN
    -- Held until the transaction ends. Nobody waits for it: whoever repeats a request that is under way is told so,
    -- and holds no connection meanwhile.
    IF NOT pg_try_advisory_xact_lock(hashtextextended(app || '/' || caller || '/' || name, 24)) THEN
        state := 'busy';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO known FROM tidegate.idempotency_keys k
        WHERE k.app_id = app AND k.user_id = caller AND k.key = name AND k.at > now() - interval '24 hours';
    IF NOT FOUND THEN
        state := 'new';
    ELSIF known.fingerprint IS DISTINCT FROM asked THEN
        state := 'other';
    ELSE
        state := 'known';
        status := known.status;
        content_type := known.content_type;
        answer := known.answer;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION tidegate.claim_idempotency_key(text, text, text, bytea) IS
    'For gateways: takes a key for this transaction. new: nobody had it; known: with the answer of then; other: it was used for another request; busy: somebody else has it at this moment.';

CREATE FUNCTION tidegate.remember_answer(
        app text, caller text, name text, asked bytea, code integer, media_type text, body text
    ) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
        INSERT INTO tidegate.idempotency_keys AS k
            (app_id, user_id, key, fingerprint, status, content_type, answer)
        VALUES (app, caller, name, asked, code, media_type, body)
        -- One that is past its 24 hours and that no sweep has met.
        ON CONFLICT (app_id, user_id, key) DO UPDATE
        SET fingerprint = excluded.fingerprint, at = excluded.at, status = excluded.status,
            content_type = excluded.content_type, answer = excluded.answer
    $$;
COMMENT ON FUNCTION tidegate.remember_answer(text, text, text, bytea, integer, text, text) IS
    'For gateways: keeps the answer to a request whose key this transaction has claimed.';

CREATE FUNCTION tidegate.trim_idempotency_keys() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
        DELETE FROM tidegate.idempotency_keys k USING (
            SELECT app_id, user_id, key FROM tidegate.idempotency_keys
            WHERE at < now() - interval '24 hours'
            FOR UPDATE SKIP LOCKED
        ) AS old
        WHERE (k.app_id, k.user_id, k.key) = (old.app_id, old.user_id, old.key)
    $$;
COMMENT ON FUNCTION tidegate.trim_idempotency_keys() IS 'For gateways: forgets keys that are older than 24 hours.';

-- Privileges --------------------------------------------------------------------------------------------

ALTER TABLE tidegate.idempotency_keys OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.claim_idempotency_key(text, text, text, bytea) OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.remember_answer(text, text, text, bytea, integer, text, text) OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.trim_idempotency_keys() OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.claim_idempotency_key(text, text, text, bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION tidegate.remember_answer(text, text, text, bytea, integer, text, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION tidegate.trim_idempotency_keys() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.claim_idempotency_key(text, text, text, bytea) TO tidegate_gateway;
GRANT EXECUTE ON FUNCTION tidegate.remember_answer(text, text, text, bytea, integer, text, text) TO tidegate_gateway;
GRANT EXECUTE ON FUNCTION tidegate.trim_idempotency_keys() TO tidegate_gateway;
