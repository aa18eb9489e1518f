-- Accounts: confirmation and reset by mail, API keys of users, linked identities, users from elsewhere.
--
-- The token in a mail is made by the gateway that sends it, and only its digest is kept here. The outbox therefore
-- holds no secret and may be read by operators.

-- Sessions that ended -----------------------------------------------------------------------------------
-- A session takes its access tokens with it. Gateways read the ends of the last half hour with the user, which
-- is as long as an access token lives, and hear of new ones.

CREATE INDEX sessions_ended ON tidegate.sessions (user_id, revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TRIGGER announce_end AFTER UPDATE OF revoked_at ON tidegate.sessions FOR EACH ROW
    WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
    EXECUTE FUNCTION tidegate.announce_user();

COMMENT ON FUNCTION tidegate.revoke_sessions(text, text) IS
    'Ends the sessions of a user, given by id or email, with all of their tokens, and returns how many.';
COMMENT ON FUNCTION tidegate.revoke_session(text, text) IS 'Ends one session with all of its tokens.';

-- Tables ------------------------------------------------------------------------------------------------

CREATE TABLE tidegate.user_tokens (
    id         text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
    app        text NOT NULL,
    username   text NOT NULL,
    purpose    text NOT NULL CHECK (purpose IN ('confirm', 'reset')),
    digest     bytea NOT NULL CHECK (length(digest) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,
    FOREIGN KEY (app, username) REFERENCES tidegate.password_hashes ON DELETE CASCADE
);
CREATE INDEX user_tokens_account ON tidegate.user_tokens (app, username);
CREATE INDEX user_tokens_expiry ON tidegate.user_tokens (expires_at);
COMMENT ON TABLE tidegate.user_tokens IS
    'Tokens that mails carry, by the SHA-256 of the token; each confirms an address or sets a password once.';

CREATE TABLE tidegate.outbox (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app           text NOT NULL,
    username      text NOT NULL,
    purpose       text NOT NULL CHECK (purpose IN ('confirm', 'reset')),
    state         text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'failed')),
    attempts      integer NOT NULL DEFAULT 0,
    message       text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    next_at       timestamptz NOT NULL DEFAULT now(),
    claimed_until timestamptz,
    sent_at       timestamptz,
    FOREIGN KEY (app, username) REFERENCES tidegate.password_hashes ON DELETE CASCADE
);
CREATE INDEX outbox_due ON tidegate.outbox (next_at) WHERE state = 'waiting';
CREATE INDEX outbox_account ON tidegate.outbox (app, username, created_at);
COMMENT ON TABLE tidegate.outbox IS
    'Mails to users. Gateways send what waits, try again with growing pauses for a day, and note why it failed.';
COMMENT ON COLUMN tidegate.outbox.message IS 'Why the last attempt failed.';
COMMENT ON COLUMN tidegate.outbox.claimed_until IS 'Until then a gateway is at it; one that died leaves it to the next.';

CREATE TABLE tidegate.mail_templates (
    app     text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    purpose text NOT NULL CHECK (purpose IN ('confirm', 'reset')),
    subject text CHECK (subject <> ''),
    body    text NOT NULL CHECK (body <> ''),
    PRIMARY KEY (app, purpose)
);
COMMENT ON TABLE tidegate.mail_templates IS 'What an app''s mails say, where it is not the standard text.';

CREATE FUNCTION tidegate.announce_mail() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('tidegate_outbox', '');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.announce_mail() IS 'Trigger: tells gateways that a mail waits.';

CREATE TRIGGER announce_insert AFTER INSERT ON tidegate.outbox FOR EACH ROW EXECUTE FUNCTION tidegate.announce_mail();
CREATE TRIGGER announce_update AFTER UPDATE ON tidegate.outbox FOR EACH ROW
    WHEN (NEW.state = 'waiting' AND NEW.next_at <= now()) EXECUTE FUNCTION tidegate.announce_mail();

-- Mails -------------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.check_purpose(purpose text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF purpose IS NULL OR purpose NOT IN ('confirm', 'reset') THEN
        PERFORM tidegate.refuse('purpose', format('must be confirm or reset, not %s', coalesce(quote_literal(purpose), 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_purpose(text) IS 'Error 22023 for anything but the two kinds of mail.';

CREATE FUNCTION tidegate.mail_text(target text, purpose text, OUT subject text, OUT body text, OUT is_default boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    configured json := (SELECT p.config -> 'config' FROM tidegate.providers p
                        WHERE p.app = target AND p.name = 'local-userpass');
BEGIN
    SELECT t.subject, t.body INTO subject, body FROM tidegate.mail_templates t
        WHERE t.app = target AND t.purpose = mail_text.purpose;
    is_default := NOT FOUND;
    IF purpose = 'confirm' THEN
        subject := coalesce(subject, nullif(configured ->> 'confirmEmailSubject', ''), 'Please confirm your address');
        body := coalesce(body, E'Please confirm %email% for %app% by this link, within 30 minutes:\n\n%link%\n\n'
                               'If you did not ask for it, leave this mail alone.\n');
    ELSE
        subject := coalesce(subject, nullif(configured ->> 'resetPasswordSubject', ''), 'Choose a new password');
        body := coalesce(body, E'Choose a new password for %email% in %app% by this link, within 30 minutes:\n\n%link%\n\n'
                               'If you did not ask for it, leave this mail alone: your password stays.\n');
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.mail_text(text, text) IS 'What a mail of an app (internal id) says, with its placeholders.';

CREATE FUNCTION tidegate.set_mail_template(app text, purpose text, body text, subject text DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    PERFORM tidegate.check_purpose(purpose);
    PERFORM tidegate.check_name('body', body, 100000);
    IF body !~ '%link%' AND NOT (body ~ '%token%' AND body ~ '%tokenId%') THEN
        PERFORM tidegate.refuse('body', 'must contain %link%, or %token% and %tokenId%');
    END IF;
    IF subject = '' OR length(subject) > 256 OR subject ~ '[[:cntrl:]]' THEN
        PERFORM tidegate.refuse('subject', 'must be one line of 1 to 256 characters');
    END IF;
    INSERT INTO tidegate.mail_templates AS t (app, purpose, subject, body)
        VALUES (target, set_mail_template.purpose, set_mail_template.subject, set_mail_template.body)
        ON CONFLICT ON CONSTRAINT mail_templates_pkey DO UPDATE SET subject = excluded.subject, body = excluded.body;
END
$$;
COMMENT ON FUNCTION tidegate.set_mail_template(text, text, text, text) IS
    'What an app''s mails say; purpose is confirm or reset. In body and subject stand %email%, %app%, %link%, %token% and %tokenId%; a null subject is the provider''s.';

CREATE FUNCTION tidegate.remove_mail_template(app text, purpose text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    PERFORM tidegate.check_purpose(purpose);
    DELETE FROM tidegate.mail_templates t WHERE t.app = target AND t.purpose = remove_mail_template.purpose;
    IF NOT FOUND THEN PERFORM tidegate.refuse_missing('purpose', purpose); END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_mail_template(text, text) IS 'Goes back to the standard text of confirm or reset.';

CREATE FUNCTION tidegate.list_mail_templates(app text)
    RETURNS TABLE (purpose text, subject text, body text, is_default boolean)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT w.word, t.subject, t.body, t.is_default FROM (VALUES ('confirm'), ('reset')) AS w (word),
              tidegate.mail_text(tidegate.app_id($1), w.word) t ORDER BY 1 $$;
COMMENT ON FUNCTION tidegate.list_mail_templates(text) IS 'What an app''s mails say.';

CREATE FUNCTION tidegate.list_outbox(app text)
    RETURNS TABLE (mail bigint, recipient text, purpose text, state text, attempts integer, message text,
                   created_at timestamptz, next_at timestamptz, sent_at timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT tidegate.app_id($1);
          SELECT o.id, o.username, o.purpose, o.state, o.attempts, o.message, o.created_at,
                 CASE WHEN o.state = 'waiting' THEN greatest(o.next_at, o.claimed_until) END, o.sent_at
          FROM tidegate.outbox o WHERE o.app = tidegate.app_id($1) ORDER BY o.id DESC $$;
COMMENT ON FUNCTION tidegate.list_outbox(text) IS
    'An app''s mails, newest first: what waits and for when, what was sent, what failed and why. Kept for ten days.';

CREATE FUNCTION tidegate.retry_mail(app text, mail bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    UPDATE tidegate.outbox o SET state = 'waiting', next_at = now(), created_at = now()
        WHERE o.app = target AND o.id = mail AND o.state <> 'sent';
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('mail', format('%s is no unsent mail of the app', coalesce(mail::text, 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.retry_mail(text, bigint) IS 'Sends a mail that waits or failed now, and tries for another day.';

CREATE FUNCTION tidegate.queue_mail(app text, username text, purpose text, most integer)
    RETURNS TABLE (outcome text, wait_seconds integer)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    confirmed timestamptz;
    oldest timestamptz;
BEGIN
    wait_seconds := 0;
    -- The lock counts for callers in all gateways.
    SELECT p.confirmed_at INTO confirmed FROM tidegate.password_hashes p
        WHERE p.app = queue_mail.app AND p.username = queue_mail.username FOR UPDATE;
    IF NOT FOUND OR (purpose = 'reset' AND confirmed IS NULL) THEN
        outcome := 'unknown';
    ELSIF purpose = 'confirm' AND confirmed IS NOT NULL THEN
        outcome := 'confirmed';
    ELSIF EXISTS (SELECT FROM tidegate.outbox o WHERE o.app = queue_mail.app AND o.username = queue_mail.username
                  AND o.purpose = queue_mail.purpose AND o.state = 'waiting' AND o.claimed_until IS NULL) THEN
        -- It has not left yet: one is enough.
        outcome := 'queued';
    ELSE
        SELECT min(l.created_at) INTO oldest FROM (
            SELECT o.created_at FROM tidegate.outbox o
            WHERE o.app = queue_mail.app AND o.username = queue_mail.username
              AND o.created_at > now() - interval '1 hour' ORDER BY o.created_at DESC LIMIT greatest(most, 1)) l
            HAVING count(*) >= most;
        IF most > 0 AND oldest IS NOT NULL THEN
            outcome := 'too many';
            wait_seconds := greatest(1, ceil(extract(epoch FROM oldest + interval '1 hour' - now())));
        ELSE
            INSERT INTO tidegate.outbox (app, username, purpose)
                VALUES (queue_mail.app, queue_mail.username, queue_mail.purpose);
            outcome := 'queued';
        END IF;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION tidegate.queue_mail(text, text, text, integer) IS
    'For the gateway: asks for a mail, at most so many an hour for an account: queued, unknown, confirmed or too many.';

CREATE FUNCTION tidegate.claim_mail()
    RETURNS TABLE (mail bigint, app text, username text, purpose text, subject text, body text)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE tidegate.outbox o SET claimed_until = now() + interval '5 minutes', attempts = o.attempts + 1
        WHERE o.id = (SELECT w.id FROM tidegate.outbox w
                      WHERE w.state = 'waiting' AND w.next_at <= now()
                        AND (w.claimed_until IS NULL OR w.claimed_until < now())
                      ORDER BY w.next_at, w.id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING o.id, o.app, o.username, o.purpose INTO mail, app, username, purpose;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT t.subject, t.body INTO subject, body FROM tidegate.mail_text(app, purpose) t;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION tidegate.claim_mail() IS
    'For the gateway: a mail that is due, with its text; nobody else gets it for five minutes.';

CREATE FUNCTION tidegate.issue_user_token(mail bigint, token_id text, digest bytea, lifetime interval) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO tidegate.user_tokens (id, app, username, purpose, digest, expires_at)
        SELECT token_id, o.app, o.username, o.purpose, issue_user_token.digest, now() + lifetime
        FROM tidegate.outbox o WHERE o.id = mail AND o.state = 'waiting' AND o.claimed_until > now();
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION tidegate.issue_user_token(bigint, text, bytea, interval) IS
    'For the gateway: the token that a claimed mail carries, by its digest.';

CREATE FUNCTION tidegate.finish_mail(mail bigint, failure text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE tidegate.outbox o
        SET state = CASE WHEN failure IS NULL THEN 'sent'
                         WHEN o.created_at < now() - interval '1 day' THEN 'failed' ELSE 'waiting' END,
            sent_at = CASE WHEN failure IS NULL THEN now() END,
            message = left(failure, 500), claimed_until = NULL,
            next_at = now() + least(interval '10 seconds' * 2 ^ least(o.attempts, 10), interval '1 hour')
        WHERE o.id = mail AND o.state = 'waiting';
END
$$;
COMMENT ON FUNCTION tidegate.finish_mail(bigint, text) IS
    'For the gateway: a mail was sent, or why it was not; the next attempt waits longer each time, and none follows after a day.';

CREATE FUNCTION tidegate.trim_mails() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM tidegate.user_tokens t WHERE t.expires_at < now() - interval '1 day';
    DELETE FROM tidegate.outbox o WHERE o.state <> 'waiting' AND o.created_at < now() - interval '10 days';
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
COMMENT ON FUNCTION tidegate.trim_mails() IS
    'Removes mails of ten days ago and tokens that expired yesterday; gateways call it hourly.';

-- Registration, confirmation, reset ---------------------------------------------------------------------

CREATE FUNCTION tidegate.register_pending(app text, username text, hash text, identity_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO tidegate.password_hashes (app, username, hash, identity_id)
        VALUES (register_pending.app, register_pending.username, register_pending.hash, register_pending.identity_id)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO tidegate.outbox (app, username, purpose)
        VALUES (register_pending.app, register_pending.username, 'confirm');
    RETURN true;
END
$$;
COMMENT ON FUNCTION tidegate.register_pending(text, text, text, text) IS
    'For the gateway: a registration that a mail asks to confirm; false when the name is taken.';

CREATE FUNCTION tidegate.check_user_token(app text, token_id text, digest bytea, purpose text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT CASE WHEN count(*) = 0 THEN 'unknown'
                      WHEN bool_or(t.used_at IS NULL AND t.expires_at > now()) THEN 'good' ELSE 'spent' END
          FROM tidegate.user_tokens t
          WHERE t.id = $2 AND t.app = $1 AND t.purpose = $4 AND t.digest = $3 $$;
COMMENT ON FUNCTION tidegate.check_user_token(text, text, bytea, text) IS
    'For the gateway: what a token is worth now: good, spent or unknown.';

CREATE FUNCTION tidegate.use_user_token(app text, token_id text, digest bytea, purpose text, hash text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    account tidegate.password_hashes;
BEGIN
    -- The account first: two tokens of one account would otherwise wait for one another.
    SELECT p.* INTO account FROM tidegate.password_hashes p
        WHERE (p.app, p.username) = (SELECT t.app, t.username FROM tidegate.user_tokens t
                                     WHERE t.id = token_id AND t.app = use_user_token.app
                                       AND t.purpose = use_user_token.purpose AND t.digest = use_user_token.digest)
        FOR UPDATE;
    IF NOT FOUND THEN RETURN 'unknown'; END IF;
    UPDATE tidegate.user_tokens t SET used_at = now()
        WHERE t.id = token_id AND t.used_at IS NULL AND t.expires_at > now();
    IF NOT FOUND THEN RETURN 'spent'; END IF;
    IF purpose = 'confirm' THEN
        IF account.confirmed_at IS NOT NULL THEN RETURN 'confirmed'; END IF;
        UPDATE tidegate.password_hashes p SET confirmed_at = now()
            WHERE p.app = account.app AND p.username = account.username;
    ELSE
        IF use_user_token.hash IS NULL THEN RAISE EXCEPTION 'a reset needs a hash' USING ERRCODE = 'null_value_not_allowed'; END IF;
        UPDATE tidegate.password_hashes p SET hash = use_user_token.hash
            WHERE p.app = account.app AND p.username = account.username;
        -- Whoever knew the old password is out, however he came in.
        UPDATE tidegate.sessions s SET revoked_at = now() WHERE s.user_id = account.user_id AND s.revoked_at IS NULL;
    END IF;
    UPDATE tidegate.user_tokens t SET used_at = now()
        WHERE t.app = account.app AND t.username = account.username AND t.purpose = use_user_token.purpose
          AND t.used_at IS NULL;
    RETURN 'done';
END
$$;
COMMENT ON FUNCTION tidegate.use_user_token(text, text, bytea, text, text) IS
    'For the gateway: confirms an address, or sets a password and ends all sessions, by a token that counts once: done, spent, unknown or confirmed.';

CREATE FUNCTION tidegate.confirm_registration(app text, email text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    UPDATE tidegate.password_hashes p SET confirmed_at = now()
        WHERE p.app = target AND p.username = email AND p.confirmed_at IS NULL;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('email', format('%s is no registration that waits to be confirmed', coalesce(quote_literal(email), 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.confirm_registration(text, text) IS 'Confirms a registration in the user''s place.';

-- API keys of users -------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.create_user_api_key(app text, user_id text, key_id text, name text, digest bytea, most integer)
    RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM tidegate.users u WHERE u.id = create_user_api_key.user_id AND u.app = create_user_api_key.app
        AND u.kind = 'normal' AND NOT u.disabled FOR UPDATE;
    IF NOT FOUND THEN RETURN 'gone'; END IF;
    IF EXISTS (SELECT FROM tidegate.api_keys k WHERE k.user_id = create_user_api_key.user_id
               AND k.name = create_user_api_key.name) THEN RETURN 'taken'; END IF;
    IF (SELECT count(*) FROM tidegate.api_keys k WHERE k.user_id = create_user_api_key.user_id) >= most THEN
        RETURN 'full';
    END IF;
    INSERT INTO tidegate.api_keys (id, app, kind, user_id, name, key_hash)
        VALUES (key_id, create_user_api_key.app, 'user', create_user_api_key.user_id, create_user_api_key.name, digest);
    RETURN 'made';
END
$$;
COMMENT ON FUNCTION tidegate.create_user_api_key(text, text, text, text, bytea, integer) IS
    'For the gateway: an API key of a user, by its digest: made, taken, full or gone.';

CREATE FUNCTION tidegate.read_user_api_keys(app text, user_id text) RETURNS TABLE (id text, name text, disabled boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT k.id, k.name, k.disabled FROM tidegate.api_keys k
          WHERE k.app = $1 AND k.user_id = $2 AND k.kind = 'user' ORDER BY k.created_at, k.id $$;
COMMENT ON FUNCTION tidegate.read_user_api_keys(text, text) IS 'For the gateway: the API keys of a user, never the keys themselves.';

CREATE FUNCTION tidegate.set_user_api_key(app text, user_id text, key_id text, disabled boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE tidegate.api_keys k SET disabled = set_user_api_key.disabled
        WHERE k.app = set_user_api_key.app AND k.user_id = set_user_api_key.user_id AND k.kind = 'user' AND k.id = key_id;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION tidegate.set_user_api_key(text, text, text, boolean) IS
    'For the gateway: disables or enables a user''s own API key; false when there is none.';

CREATE FUNCTION tidegate.drop_user_api_key(app text, user_id text, key_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM tidegate.api_keys k
        WHERE k.app = drop_user_api_key.app AND k.user_id = drop_user_api_key.user_id AND k.kind = 'user' AND k.id = key_id;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM tidegate.identities i
        WHERE i.app = drop_user_api_key.app AND i.provider_type = 'api-key' AND i.id = key_id;
    RETURN true;
END
$$;
COMMENT ON FUNCTION tidegate.drop_user_api_key(text, text, text) IS
    'For the gateway: deletes a user''s own API key; false when there is none.';

-- Linked identities -------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.identity_data(user_id text) RETURNS json
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT coalesce(json_object_agg(f.key, f.value ORDER BY f.place), '{}') FROM (
              SELECT e.key, min(e.place) AS place, (array_agg(e.value ORDER BY e.place DESC))[1] AS value FROM (
                  SELECT d.key, d.value, row_number() OVER (ORDER BY i.created_at, i.id, d.n) AS place
                  FROM tidegate.identities i, json_each(i.data) WITH ORDINALITY AS d (key, value, n)
                  WHERE i.user_id = $1) e
              GROUP BY e.key) f $$;
COMMENT ON FUNCTION tidegate.identity_data(text) IS
    'The union of what a user''s identities say; a later identity''s field wins.';

CREATE FUNCTION tidegate.link_identity(app text, user_id text, provider_type text, identity_id text, data json)
    RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner text;
BEGIN
    PERFORM FROM tidegate.users u WHERE u.id = link_identity.user_id AND u.app = link_identity.app
        AND u.kind = 'normal' AND NOT u.disabled FOR UPDATE;
    IF NOT FOUND THEN RETURN 'gone'; END IF;
    SELECT i.user_id INTO owner FROM tidegate.identities i
        WHERE i.app = link_identity.app AND i.provider_type = link_identity.provider_type AND i.id = identity_id;
    IF FOUND THEN RETURN CASE WHEN owner = link_identity.user_id THEN 'known' ELSE 'taken' END; END IF;
    IF EXISTS (SELECT FROM tidegate.identities i WHERE i.user_id = link_identity.user_id
               AND i.provider_type = link_identity.provider_type) THEN RETURN 'second'; END IF;
    INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id, data)
        VALUES (link_identity.app, link_identity.provider_type, identity_id,
                coalesce((SELECT p.id FROM tidegate.providers p WHERE p.app = link_identity.app
                          AND p.name = link_identity.provider_type), '000000000000000000000000'),
                link_identity.user_id, link_identity.data)
        ON CONFLICT DO NOTHING;
    -- A first login of the same identity came first, and made it another user's.
    IF NOT FOUND THEN RETURN 'taken'; END IF;
    IF provider_type = 'local-userpass' THEN
        UPDATE tidegate.password_hashes p SET user_id = link_identity.user_id
            WHERE p.app = link_identity.app AND p.username = link_identity.data ->> 'email'
              AND p.identity_id = link_identity.identity_id AND p.user_id IS NULL AND p.confirmed_at IS NOT NULL;
        IF NOT FOUND THEN
            DELETE FROM tidegate.identities i WHERE i.app = link_identity.app
                AND i.provider_type = link_identity.provider_type AND i.id = link_identity.identity_id;
            RETURN 'taken';
        END IF;
    END IF;
    UPDATE tidegate.users u SET data = tidegate.identity_data(u.id) WHERE u.id = link_identity.user_id;
    RETURN 'linked';
END
$$;
COMMENT ON FUNCTION tidegate.link_identity(text, text, text, text, json) IS
    'For the gateway: one more way for a user to log in: linked, known, taken (by another user), second (of its provider) or gone.';

CREATE FUNCTION tidegate.unlink_identity(app text, id text, provider_type text, identity_id text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    owner text := tidegate.user_id(target, id);
BEGIN
    PERFORM FROM tidegate.users u WHERE u.id = owner FOR UPDATE;
    IF NOT EXISTS (SELECT FROM tidegate.identities i WHERE i.user_id = owner AND i.provider_type = unlink_identity.provider_type) THEN
        PERFORM tidegate.refuse('provider_type', format('%s is not among the user''s', coalesce(quote_literal(provider_type), 'null')));
    ELSIF NOT EXISTS (SELECT FROM tidegate.identities i WHERE i.user_id = owner
                      AND i.provider_type = unlink_identity.provider_type AND i.id = unlink_identity.identity_id) THEN
        PERFORM tidegate.refuse('identity_id', format('%s is no identity of the user', coalesce(quote_literal(identity_id), 'null')));
    ELSIF NOT EXISTS (SELECT FROM tidegate.identities i WHERE i.user_id = owner AND i.provider_type <> 'api-key'
                      AND (i.provider_type <> unlink_identity.provider_type OR i.id <> unlink_identity.identity_id)) THEN
        PERFORM tidegate.refuse('identity_id', 'is the user''s last: delete_user removes the user');
    END IF;
    IF provider_type = 'local-userpass' THEN
        DELETE FROM tidegate.password_hashes p WHERE p.app = target AND p.identity_id = unlink_identity.identity_id
            AND p.user_id = owner;
    ELSIF provider_type = 'api-key' THEN
        DELETE FROM tidegate.api_keys k WHERE k.app = target AND k.id = unlink_identity.identity_id;
    END IF;
    DELETE FROM tidegate.identities i WHERE i.app = target AND i.provider_type = unlink_identity.provider_type
        AND i.id = unlink_identity.identity_id;
    UPDATE tidegate.sessions s SET revoked_at = now() WHERE s.user_id = owner AND s.revoked_at IS NULL
        AND s.provider_type = unlink_identity.provider_type AND s.identity_id = unlink_identity.identity_id;
    UPDATE tidegate.users u SET data = tidegate.identity_data(u.id) WHERE u.id = owner;
END
$$;
COMMENT ON FUNCTION tidegate.unlink_identity(text, text, text, text) IS
    'Takes one way to log in from a user, given by id or email, and ends the sessions made with it; list_identities shows them. The last one stays.';

-- Users from elsewhere ----------------------------------------------------------------------------------

CREATE FUNCTION tidegate.import_hash(hash text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    field text := 'account.password_hash';
    parts text[];
    stored text;
BEGIN
    IF hash IS NULL THEN
        -- No password fits it; a reset gives the user one.
        RETURN '$none$';
    ELSIF hash ~ '^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$' THEN
        RETURN hash;
    ELSIF hash ~ '^\$scrypt\$ln=(\d|1[0-8]),r=(\d|1[0-6]),p=(\d|1[0-6])\$[+/A-Za-z0-9]{11,86}\$[+/A-Za-z0-9]{22,86}$' THEN
        RETURN hash;
    ELSIF hash ~ '^\$pbkdf2-sha(256|512)\$i=\d{1,7}\$[+/A-Za-z0-9]{11,86}\$[+/A-Za-z0-9]{22,86}$' THEN
        RETURN hash;
    ELSIF hash ~ '^\$pbkdf2-sha(256|512)\$\d{1,7}\$[./A-Za-z0-9]{11,86}\$[./A-Za-z0-9]{22,86}$' THEN
        -- As Python's passlib writes it.
        parts := string_to_array(hash, '$');
        RETURN format('$%s$i=%s$%s$%s', parts[2], parts[3], replace(parts[4], '.', '+'), replace(parts[5], '.', '+'));
    ELSIF hash ~ '^pbkdf2_sha256\$\d{1,7}\$[^$]{8,64}\$[+/A-Za-z0-9]{43}=$' THEN
        -- As Django writes it: the salt is text.
        parts := string_to_array(hash, '$');
        stored := rtrim(translate(encode(convert_to(parts[3], 'UTF8'), 'base64'), E'\n', ''), '=');
        RETURN format('$pbkdf2-sha256$i=%s$%s$%s', parts[2], stored, rtrim(parts[4], '='));
    ELSIF hash ~ '^\$argon2' THEN
        PERFORM tidegate.refuse(field, 'is of Argon2, which is not served: leave it out, and the user sets a password by mail');
    END IF;
    PERFORM tidegate.refuse(field, 'must be bcrypt ($2a$, $2b$ or $2y$ of cost 4 to 14), $scrypt$, $pbkdf2-sha256$, $pbkdf2-sha512$ or pbkdf2_sha256$');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.import_hash(text) IS 'A foreign password hash as it is stored; error 22023 for a kind that no login can check.';

CREATE FUNCTION tidegate.import_email(field text, email text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF email IS NULL OR email !~ '^[^[:space:][:cntrl:]]+$' OR octet_length(email) > 320 THEN
        PERFORM tidegate.refuse(field, 'must be a text of 1 to 320 bytes without blanks');
    END IF;
    RETURN email;
END
$$;
COMMENT ON FUNCTION tidegate.import_email(text, text) IS 'Error 22023 for what cannot be the name of an email/password user.';

CREATE FUNCTION tidegate.import_user(app text, account anycompatible) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    wanted json := tidegate.read_object('account', account::text);
    made text;
    named text;
    stored text;
    entry json;
    place text;
    word text;
    known text;
    said json;
    number integer := 0;
    custom json;
    settings json;
    relation tidegate.collections;
BEGIN
    PERFORM tidegate.check_keys('account', wanted, ARRAY['_id', 'id', 'email', 'password_hash', 'type', 'disabled', 'data',
        'custom_data', 'identities', 'creation_date', 'last_authentication_date', 'domain_id', 'roles']);
    PERFORM tidegate.check_types('account', wanted, '_id', ARRAY['string', 'object']);
    PERFORM tidegate.check_types('account', wanted, 'type', ARRAY['string', 'null']);
    PERFORM tidegate.check_types('account', wanted, 'email', ARRAY['string', 'null']);
    PERFORM tidegate.check_types('account', wanted, 'password_hash', ARRAY['string', 'null']);
    PERFORM tidegate.check_types('account', wanted, 'disabled', ARRAY['boolean', 'null']);
    PERFORM tidegate.check_types('account', wanted, 'data', ARRAY['object', 'null']);
    PERFORM tidegate.check_types('account', wanted, 'custom_data', ARRAY['object', 'null']);
    PERFORM tidegate.check_types('account', wanted, 'identities', ARRAY['array', 'null']);
    made := CASE json_typeof(wanted -> '_id') WHEN 'object' THEN wanted -> '_id' ->> '$oid'
                                              ELSE coalesce(wanted ->> '_id', wanted ->> 'id') END;
    IF made IS NULL OR made !~ '^[0-9a-f]{24}$' THEN
        PERFORM tidegate.refuse('account._id', 'must be 24 lowercase hexadecimal digits');
    ELSIF coalesce(wanted ->> 'type', 'normal') <> 'normal' THEN
        PERFORM tidegate.refuse('account.type', 'must be normal: server users belong to API keys, which cannot be imported');
    END IF;
    INSERT INTO tidegate.users (id, app, disabled, created_at)
        VALUES (made, target, coalesce((wanted ->> 'disabled')::boolean, false),
                CASE WHEN json_typeof(wanted -> 'creation_date') = 'number'
                     THEN to_timestamp((wanted ->> 'creation_date')::double precision) ELSE now() END)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN PERFORM tidegate.refuse('account._id', format('%L is the id of a user already', made)); END IF;
    stored := tidegate.import_hash(wanted ->> 'password_hash');
    said := CASE WHEN json_typeof(wanted -> 'identities') = 'array' AND json_array_length(wanted -> 'identities') > 0
                 THEN wanted -> 'identities'
                 WHEN wanted ->> 'email' IS NOT NULL THEN json_build_array(json_build_object('provider_type', 'local-userpass'))
            END;
    IF said IS NULL THEN PERFORM tidegate.refuse('account.identities', 'must name a way to log in, or email be given'); END IF;
    FOR entry IN SELECT * FROM json_array_elements(said) LOOP
        place := format('account.identities[%s]', number);
        number := number + 1;
        PERFORM tidegate.check_keys(place, entry, ARRAY['id', 'provider_type', 'provider_id', 'provider_data', 'data', 'provider_domain_id']);
        word := entry ->> 'provider_type';
        IF word IS NULL OR word NOT IN ('anon-user', 'local-userpass', 'custom-token', 'custom-function',
                                        'oauth2-google', 'oauth2-facebook', 'oauth2-apple', 'api-key') THEN
            PERFORM tidegate.refuse(place || '.provider_type', format('%s is not a provider', coalesce(quote_literal(word), 'null')));
        END IF;
        -- The key itself was never exported; its name would only be in the way of a new one.
        CONTINUE WHEN word = 'api-key';
        PERFORM tidegate.check_types(place, entry, 'id', ARRAY['string', 'null']);
        PERFORM tidegate.check_types(place, entry, 'provider_data', ARRAY['object', 'null']);
        PERFORM tidegate.check_types(place, entry, 'data', ARRAY['object', 'null']);
        known := entry ->> 'id';
        settings := CASE WHEN json_typeof(entry -> 'provider_data') = 'object' THEN entry -> 'provider_data'
                         WHEN json_typeof(entry -> 'data') = 'object' THEN entry -> 'data' ELSE '{}' END;
        IF word = 'local-userpass' THEN
            named := coalesce(settings ->> 'email', wanted ->> 'email', wanted -> 'data' ->> 'email');
            PERFORM tidegate.import_email(CASE WHEN wanted ->> 'email' IS NULL THEN place || '.provider_data.email' ELSE 'account.email' END, named);
            settings := CASE WHEN settings ->> 'email' IS NULL THEN json_build_object('email', named) ELSE settings END;
            known := coalesce(nullif(known, ''), tidegate.new_id() || '-'
                || translate(left(encode(tidegate.random_secret(), 'hex'), 24), '0123456789', 'ghijklmnop'));
            INSERT INTO tidegate.password_hashes (app, username, hash, user_id, identity_id, confirmed_at)
                VALUES (target, named, stored, made, known, now()) ON CONFLICT DO NOTHING;
            IF NOT FOUND THEN
                PERFORM tidegate.refuse(CASE WHEN wanted ->> 'email' IS NULL THEN place || '.provider_data.email' ELSE 'account.email' END,
                                        format('%L is already in use', named));
            END IF;
        ELSIF known IS NULL OR known = '' THEN
            PERFORM tidegate.refuse(place || '.id', 'must be the id of the user at the provider');
        END IF;
        INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id, data)
            VALUES (target, word, known, coalesce((SELECT p.id FROM tidegate.providers p WHERE p.app = target AND p.name = word),
                                                  '000000000000000000000000'), made, settings) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN PERFORM tidegate.refuse(place || '.id', format('%L is already in use', known)); END IF;
    END LOOP;
    IF NOT EXISTS (SELECT FROM tidegate.identities i WHERE i.user_id = made) THEN
        PERFORM tidegate.refuse('account.identities', 'must name another way to log in than API keys');
    ELSIF wanted ->> 'password_hash' IS NOT NULL AND named IS NULL THEN
        PERFORM tidegate.refuse('account.password_hash', 'is of no use without a local-userpass identity');
    END IF;
    UPDATE tidegate.users u SET data = CASE WHEN json_typeof(wanted -> 'data') = 'object' AND (wanted -> 'data')::text <> '{}'
                                            THEN wanted -> 'data' ELSE tidegate.identity_data(made) END WHERE u.id = made;
    custom := CASE WHEN json_typeof(wanted -> 'custom_data') = 'object' THEN wanted -> 'custom_data' END;
    IF custom IS NOT NULL AND custom::text <> '{}' THEN
        settings := (SELECT s.config FROM tidegate.settings s WHERE s.app = target AND s.name = 'custom_user_data');
        IF settings ->> 'enabled' IS DISTINCT FROM 'true' THEN
            PERFORM tidegate.refuse('account.custom_data', 'has no place: the app''s custom user data is not enabled');
        END IF;
        SELECT c.* INTO relation FROM tidegate.collections c
            WHERE c.id = tidegate.ensure_collection(settings ->> 'database_name', settings ->> 'collection_name');
        IF relation.mapped IS NOT NULL THEN
            PERFORM tidegate.refuse('account.custom_data', 'has no place: the collection is a mapped table');
        END IF;
        -- The collection may have been imported before, with the document in it.
        EXECUTE format('INSERT INTO %1$I.%2$I (doc) SELECT $1 WHERE NOT EXISTS (SELECT FROM %1$I.%2$I WHERE doc ->> $2 = $3)',
                       relation.schema_name, relation.table_name)
            USING custom::jsonb || jsonb_build_object(settings ->> 'user_id_field', made), settings ->> 'user_id_field', made;
    END IF;
    RETURN made;
END
$$;
COMMENT ON FUNCTION tidegate.import_user(text, anycompatible) IS
    'Takes a user over with its id: {"_id", "identities": [{"id", "provider_type", "provider_data"}] or "email", "password_hash", "disabled", "data", "custom_data"}, as json, jsonb or text. The hash is replaced at the next login; without one the user sets a password by mail. custom_data becomes the document of the custom user data collection, as it is stored there.';

-- Privileges --------------------------------------------------------------------------------------------

GRANT SELECT ON tidegate.outbox TO tidegate_admin, tidegate_readonly;
GRANT SELECT ON tidegate.mail_templates TO tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    object record;
    for_gateway text[] := ARRAY['queue_mail', 'claim_mail', 'issue_user_token', 'finish_mail', 'trim_mails',
        'register_pending', 'check_user_token', 'use_user_token', 'create_user_api_key', 'read_user_api_keys',
        'set_user_api_key', 'drop_user_api_key', 'link_identity'];
    for_admin text[] := ARRAY['set_mail_template', 'remove_mail_template', 'list_mail_templates', 'list_outbox',
        'retry_mail', 'confirm_registration', 'unlink_identity', 'import_user'];
    inner_ones text[] := ARRAY['announce_mail', 'check_purpose', 'mail_text', 'identity_data', 'import_hash', 'import_email'];
    part text;
BEGIN
    FOREACH part IN ARRAY ARRAY['user_tokens', 'outbox', 'mail_templates'] LOOP
        EXECUTE format('ALTER TABLE tidegate.%I OWNER TO tidegate_owner', part);
    END LOOP;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace AND p.proname = ANY (for_gateway || for_admin || inner_ones)
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short = ANY (for_gateway) THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        END IF;
        IF object.short = ANY (for_admin) THEN
            EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER', object.name);
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
        IF object.short LIKE 'list\_%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_readonly', object.name);
        END IF;
    END LOOP;
END
$$;
