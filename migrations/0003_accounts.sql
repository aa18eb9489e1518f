-- Accounts: users, their identities and credentials, sessions, API keys, and the keys that tokens are
-- signed with. An administrator uses the functions; hashes and signing keys are for the gateway alone.
--
-- A change that must hold at once notifies `tidegate_users` with `<app id>:<user id>`, or with `<app id>:`
-- for the whole app; gateways then forget what they remember of it. Logging in is no such change.

-- Tables ------------------------------------------------------------------------------------------------

CREATE TABLE tidegate.users (
    id                text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
    app               text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    kind              text NOT NULL DEFAULT 'normal' CHECK (kind IN ('normal', 'server')),
    data              json NOT NULL DEFAULT '{}' CHECK (json_typeof(data) = 'object'),
    disabled          boolean NOT NULL DEFAULT false,
    tokens_valid_from timestamptz,
    created_at        timestamptz NOT NULL DEFAULT now(),
    last_login_at     timestamptz
);
CREATE INDEX users_app ON tidegate.users (app, created_at);
COMMENT ON TABLE tidegate.users IS 'One row per account; server users stand for server API keys.';
COMMENT ON COLUMN tidegate.users.data IS 'The union of the identities'' data, as Extended JSON.';
COMMENT ON COLUMN tidegate.users.tokens_valid_from IS 'Access tokens issued earlier are void.';

CREATE TABLE tidegate.identities (
    app           text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    provider_type text NOT NULL CHECK (provider_type <> ''),
    id            text NOT NULL CHECK (id <> ''),
    provider_id   text NOT NULL CHECK (provider_id ~ '^[0-9a-f]{24}$'),
    user_id       text NOT NULL REFERENCES tidegate.users ON DELETE CASCADE,
    data          json NOT NULL DEFAULT '{}' CHECK (json_typeof(data) = 'object'),
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (app, provider_type, id)
);
CREATE INDEX identities_user ON tidegate.identities (user_id);
-- For the end of anonymous users.
CREATE INDEX identities_anonymous ON tidegate.identities (created_at) WHERE provider_type = 'anon-user';
COMMENT ON TABLE tidegate.identities IS 'The ways in which each user logs in.';

CREATE TABLE tidegate.password_hashes (
    app          text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    username     text NOT NULL CHECK (username <> ''),
    hash         text NOT NULL CHECK (hash LIKE '$%'),
    user_id      text REFERENCES tidegate.users ON DELETE CASCADE,
    identity_id  text NOT NULL,
    confirmed_at timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, username)
);
CREATE INDEX password_hashes_user ON tidegate.password_hashes (user_id);
COMMENT ON TABLE tidegate.password_hashes IS
    'Passwords as $algorithm$parameters$salt$key. user_id is null until the first login; confirmed_at until confirmation.';

CREATE TABLE tidegate.api_keys (
    id           text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
    app          text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    kind         text NOT NULL CHECK (kind IN ('server', 'user')),
    user_id      text NOT NULL REFERENCES tidegate.users ON DELETE CASCADE,
    name         text NOT NULL CHECK (name ~ '^[A-Za-z0-9_-]{1,64}$'),
    key_hash     bytea NOT NULL CHECK (length(key_hash) = 32),
    disabled     boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz
);
CREATE UNIQUE INDEX api_keys_hash ON tidegate.api_keys (key_hash);
CREATE UNIQUE INDEX api_keys_server_name ON tidegate.api_keys (app, name) WHERE kind = 'server';
CREATE UNIQUE INDEX api_keys_user_name ON tidegate.api_keys (user_id, name);
COMMENT ON TABLE tidegate.api_keys IS 'API keys by the SHA-256 of the key; the key itself is kept nowhere.';
COMMENT ON COLUMN tidegate.api_keys.last_used_at IS 'To the minute.';

CREATE TABLE tidegate.sessions (
    id            text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
    app           text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    user_id       text NOT NULL REFERENCES tidegate.users ON DELETE CASCADE,
    provider_type text NOT NULL,
    identity_id   text NOT NULL,
    device_id     text NOT NULL CHECK (device_id ~ '^[0-9a-f]{24}$'),
    device        json,
    created_at    timestamptz NOT NULL DEFAULT now(),
    refreshed_at  timestamptz,
    expires_at    timestamptz NOT NULL,
    revoked_at    timestamptz
);
CREATE INDEX sessions_user ON tidegate.sessions (user_id);
CREATE INDEX sessions_device ON tidegate.sessions (app, device_id);
CREATE INDEX sessions_expiry ON tidegate.sessions (expires_at);
COMMENT ON TABLE tidegate.sessions IS 'One row per login: what a refresh token stands for (its baas_id).';

CREATE TABLE tidegate.signing_keys (
    id         text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
    app        text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    algorithm  text NOT NULL DEFAULT 'HS256' CHECK (algorithm = 'HS256'),
    secret     bytea NOT NULL CHECK (length(secret) >= 32),
    valid_from timestamptz NOT NULL DEFAULT now(),
    retired_at timestamptz
);
CREATE INDEX signing_keys_app ON tidegate.signing_keys (app);
COMMENT ON TABLE tidegate.signing_keys IS 'The newest key signs an app''s tokens; all that are not retired are believed.';

-- Notification ------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.announce_user() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog
AS $$
BEGIN
    IF TG_TABLE_NAME = 'users' THEN
        PERFORM pg_notify('tidegate_users', OLD.app || ':' || OLD.id);
    ELSIF TG_TABLE_NAME = 'signing_keys' THEN
        PERFORM pg_notify('tidegate_users', coalesce(NEW.app, OLD.app) || ':');
    ELSE
        IF OLD.user_id IS NOT NULL THEN
            PERFORM pg_notify('tidegate_users', OLD.app || ':' || OLD.user_id);
        END IF;
        IF NEW.user_id IS DISTINCT FROM OLD.user_id AND NEW.user_id IS NOT NULL
           -- Nobody remembers a user that comes into being in this transaction.
           AND EXISTS (SELECT FROM tidegate.users u WHERE u.id = NEW.user_id AND u.created_at < now()) THEN
            PERFORM pg_notify('tidegate_users', NEW.app || ':' || NEW.user_id);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.announce_user() IS 'Trigger: tells gateways to forget what they remember of a user.';

CREATE TRIGGER announce_update AFTER UPDATE ON tidegate.users FOR EACH ROW
    WHEN (ROW(OLD.app, OLD.kind, OLD.data::text, OLD.disabled, OLD.tokens_valid_from)
          IS DISTINCT FROM ROW(NEW.app, NEW.kind, NEW.data::text, NEW.disabled, NEW.tokens_valid_from))
    EXECUTE FUNCTION tidegate.announce_user();
CREATE TRIGGER announce_delete AFTER DELETE ON tidegate.users FOR EACH ROW
    EXECUTE FUNCTION tidegate.announce_user();

CREATE TRIGGER announce_insert AFTER INSERT ON tidegate.identities FOR EACH ROW
    EXECUTE FUNCTION tidegate.announce_user();
CREATE TRIGGER announce_update AFTER UPDATE ON tidegate.identities FOR EACH ROW
    WHEN (ROW(OLD.app, OLD.id, OLD.provider_type, OLD.provider_id, OLD.user_id, OLD.data::text)
          IS DISTINCT FROM ROW(NEW.app, NEW.id, NEW.provider_type, NEW.provider_id, NEW.user_id, NEW.data::text))
    EXECUTE FUNCTION tidegate.announce_user();
CREATE TRIGGER announce_delete AFTER DELETE ON tidegate.identities FOR EACH ROW
    EXECUTE FUNCTION tidegate.announce_user();

CREATE TRIGGER announce_update AFTER UPDATE ON tidegate.password_hashes FOR EACH ROW
    WHEN (ROW(OLD.username, OLD.hash, OLD.user_id, OLD.confirmed_at)
          IS DISTINCT FROM ROW(NEW.username, NEW.hash, NEW.user_id, NEW.confirmed_at))
    EXECUTE FUNCTION tidegate.announce_user();
CREATE TRIGGER announce_delete AFTER DELETE ON tidegate.password_hashes FOR EACH ROW
    EXECUTE FUNCTION tidegate.announce_user();

CREATE TRIGGER announce_update AFTER UPDATE ON tidegate.api_keys FOR EACH ROW
    WHEN (ROW(OLD.user_id, OLD.key_hash, OLD.disabled) IS DISTINCT FROM ROW(NEW.user_id, NEW.key_hash, NEW.disabled))
    EXECUTE FUNCTION tidegate.announce_user();
CREATE TRIGGER announce_delete AFTER DELETE ON tidegate.api_keys FOR EACH ROW
    EXECUTE FUNCTION tidegate.announce_user();

CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON tidegate.signing_keys FOR EACH ROW
    EXECUTE FUNCTION tidegate.announce_user();

-- Ending what a change puts an end to -------------------------------------------------------------------

CREATE FUNCTION tidegate.end_sessions_of_user() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
BEGIN
    -- Tokens of before stay void when the user is enabled again.
    NEW.tokens_valid_from := greatest(NEW.tokens_valid_from, now());
    UPDATE tidegate.sessions SET revoked_at = now() WHERE user_id = NEW.id AND revoked_at IS NULL;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION tidegate.end_sessions_of_user() IS 'Trigger: disabling a user ends its tokens, for good.';

CREATE TRIGGER end_sessions BEFORE UPDATE ON tidegate.users FOR EACH ROW
    WHEN (NEW.disabled AND NOT OLD.disabled) EXECUTE FUNCTION tidegate.end_sessions_of_user();

CREATE FUNCTION tidegate.end_sessions_of_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
BEGIN
    UPDATE tidegate.sessions SET revoked_at = now()
        WHERE user_id = OLD.user_id AND provider_type = 'api-key' AND identity_id = OLD.id AND revoked_at IS NULL;
    -- A server user has no other way in, so its access tokens can end too.
    UPDATE tidegate.users SET tokens_valid_from = now() WHERE id = OLD.user_id AND kind = 'server';
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.end_sessions_of_key() IS 'Trigger: a key that is disabled or gone ends the sessions made with it.';

CREATE TRIGGER end_sessions_update AFTER UPDATE ON tidegate.api_keys FOR EACH ROW
    WHEN (NEW.disabled AND NOT OLD.disabled) EXECUTE FUNCTION tidegate.end_sessions_of_key();
CREATE TRIGGER end_sessions_delete AFTER DELETE ON tidegate.api_keys FOR EACH ROW
    EXECUTE FUNCTION tidegate.end_sessions_of_key();

-- Signing keys ------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.random_secret() RETURNS bytea
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog
    RETURN sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
COMMENT ON FUNCTION tidegate.random_secret() IS '32 bytes, made of 366 random bits.';

CREATE FUNCTION tidegate.create_signing_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
BEGIN
    INSERT INTO tidegate.signing_keys (id, app, secret) VALUES (tidegate.new_id(), NEW.id, tidegate.random_secret());
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.create_signing_key() IS 'Trigger: a new app gets a key to sign its tokens with.';

CREATE TRIGGER create_signing_key AFTER INSERT ON tidegate.apps FOR EACH ROW
    EXECUTE FUNCTION tidegate.create_signing_key();

INSERT INTO tidegate.signing_keys (id, app, secret)
    SELECT tidegate.new_id(), a.id, tidegate.random_secret() FROM tidegate.apps a;

CREATE FUNCTION tidegate.rotate_signing_key(app text, overlap interval DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    target text := tidegate.app_id(app);
    made text := tidegate.new_id();
    until timestamptz;
BEGIN
    IF overlap < interval '0' THEN
        PERFORM tidegate.refuse('overlap', 'must not be negative');
    END IF;
    IF overlap IS NULL THEN
        SELECT greatest(max(s.expires_at), now() + interval '30 minutes') INTO until
            FROM tidegate.sessions s WHERE s.app = target AND s.revoked_at IS NULL;
    ELSE
        until := now() + overlap;
    END IF;
    UPDATE tidegate.signing_keys k SET retired_at = until
        WHERE k.app = target AND (k.retired_at IS NULL OR k.retired_at > until);
    INSERT INTO tidegate.signing_keys (id, app, secret, valid_from)
        VALUES (made, target, tidegate.random_secret(), clock_timestamp());
    RETURN made;
END
$$;
COMMENT ON FUNCTION tidegate.rotate_signing_key(text, interval) IS
    'Signs an app''s tokens with a new key from now on. Tokens of older keys are believed for the overlap, by default until the last session ends; interval ''0'' voids them at once.';

-- Passwords ---------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.pbkdf2_sha256(password text, salt bytea, iterations integer) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog
AS $$
DECLARE
    key bytea := convert_to(password, 'UTF8');
    inner_pad bytea;
    outer_pad bytea;
    step bytea;
    sum bit(256);
BEGIN
    IF length(key) > 64 THEN
        key := sha256(key);
    END IF;
    key := key || decode(repeat('00', 64 - length(key)), 'hex');
    inner_pad := key;
    outer_pad := key;
    FOR i IN 0..63 LOOP
        inner_pad := set_byte(inner_pad, i, get_byte(key, i) # 54);
        outer_pad := set_byte(outer_pad, i, get_byte(key, i) # 92);
    END LOOP;
    step := sha256(outer_pad || sha256(inner_pad || salt || '\x00000001'::bytea));
    -- The exclusive or of 32 bytes goes through bit strings; byte by byte would take a hundred times longer.
    sum := ('x' || encode(step, 'hex'))::bit(256);
    FOR i IN 2..iterations LOOP
        step := sha256(outer_pad || sha256(inner_pad || step));
        sum := sum # ('x' || encode(step, 'hex'))::bit(256);
    END LOOP;
    RETURN decode(
        (SELECT string_agg(lpad(to_hex(substring(sum FROM 1 + 32 * n FOR 32)::bit(32)::bigint & 4294967295), 8, '0'), '' ORDER BY n)
         FROM generate_series(0, 7) AS n), 'hex');
END
$$;
COMMENT ON FUNCTION tidegate.pbkdf2_sha256(text, bytea, integer) IS
    'PBKDF2 with HMAC-SHA-256, 32 bytes (RFC 8018). About 2.5 microseconds an iteration.';

CREATE FUNCTION tidegate.hash_password(password text) RETURNS text
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog
AS $$
DECLARE
    salt bytea := substring(tidegate.random_secret() FROM 1 FOR 16);
    -- About a tenth of a second; more would be too slow here, and the next login replaces it.
    iterations integer := 40000;
BEGIN
    IF password IS NULL OR length(password) NOT BETWEEN 6 AND 128 THEN
        PERFORM tidegate.refuse('password', 'must be between 6 and 128 characters');
    END IF;
    RETURN format('$pbkdf2-sha256$i=%s$%s$%s', iterations, rtrim(encode(salt, 'base64'), '='),
                  rtrim(encode(tidegate.pbkdf2_sha256(password, salt, iterations), 'base64'), '='));
END
$$;
COMMENT ON FUNCTION tidegate.hash_password(text) IS
    'A password as it is stored. The gateway replaces it by scrypt at the next login.';

-- Users -------------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.user_id(target text, id text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog
AS $$
DECLARE
    found text;
BEGIN
    SELECT u.id INTO found FROM tidegate.users u WHERE u.app = target AND u.id = user_id.id;
    IF found IS NULL THEN
        PERFORM tidegate.refuse('id', format('%s is no user of the app', coalesce(quote_literal(id), 'null')));
    END IF;
    RETURN found;
END
$$;
COMMENT ON FUNCTION tidegate.user_id(text, text) IS 'The id of a user of an app, given by internal id. Error 22023 when there is none.';

CREATE FUNCTION tidegate.create_user(app text, email text, password text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    target text := tidegate.app_id(app);
    made text := tidegate.new_id();
    -- 24 letters: hexadecimal digits with the decimal ones moved behind f.
    identity text := tidegate.new_id() || '-'
        || translate(left(encode(tidegate.random_secret(), 'hex'), 24), '0123456789', 'ghijklmnop');
    stored text;
BEGIN
    -- The hosted service's administrators made users by any name: no address is asked for here.
    IF email IS NULL OR email !~ '^[^[:space:][:cntrl:]]+$' OR octet_length(email) > 320 THEN
        PERFORM tidegate.refuse('email', 'must be 1 to 320 bytes without blanks');
    END IF;
    stored := tidegate.hash_password(password);
    INSERT INTO tidegate.users (id, app, data) VALUES (made, target, json_build_object('email', email));
    INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id, data)
        VALUES (target, 'local-userpass', identity,
                coalesce((SELECT p.id FROM tidegate.providers p WHERE p.app = target AND p.name = 'local-userpass'),
                         tidegate.new_id()),
                made, json_build_object('email', email));
    BEGIN
        INSERT INTO tidegate.password_hashes (app, username, hash, user_id, identity_id, confirmed_at)
            VALUES (target, email, stored, made, identity, now());
    EXCEPTION WHEN unique_violation THEN
        PERFORM tidegate.refuse('email', format('%L is already in use', email));
    END;
    RETURN made;
END
$$;
COMMENT ON FUNCTION tidegate.create_user(text, text, text) IS
    'Makes a confirmed email/password user and returns its id. The statement holds the password: mind the server''s statement log.';

CREATE FUNCTION tidegate.set_password(app text, id text, password text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    target text := tidegate.user_id(tidegate.app_id(app), id);
    stored text := tidegate.hash_password(password);
BEGIN
    UPDATE tidegate.password_hashes p SET hash = stored WHERE p.user_id = target;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('id', format('%L has no email/password identity', target));
    END IF;
    UPDATE tidegate.sessions s SET revoked_at = now()
        WHERE s.user_id = target AND s.provider_type = 'local-userpass' AND s.revoked_at IS NULL;
END
$$;
COMMENT ON FUNCTION tidegate.set_password(text, text, text) IS
    'Gives an email/password user another password and ends the sessions made with the old one.';

CREATE FUNCTION tidegate.list_users(app text)
    RETURNS TABLE (id text, kind text, disabled boolean, data json, providers text[], created_at timestamptz,
                   last_login_at timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog
    AS $$ SELECT u.id, u.kind, u.disabled, u.data,
                 ARRAY(SELECT i.provider_type FROM tidegate.identities i WHERE i.user_id = u.id ORDER BY i.created_at),
                 u.created_at, u.last_login_at
          FROM tidegate.users u WHERE u.app = tidegate.app_id($1) ORDER BY u.created_at, u.id $$;
COMMENT ON FUNCTION tidegate.list_users(text) IS 'The users of an app, oldest first; server users belong to server API keys.';

CREATE FUNCTION tidegate.disable_user(app text, id text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    found text := tidegate.user_id(tidegate.app_id(app), id);
BEGIN
    UPDATE tidegate.users u SET disabled = true WHERE u.id = found AND NOT u.disabled;
END
$$;
COMMENT ON FUNCTION tidegate.disable_user(text, text) IS 'Ends all tokens of a user at once and refuses further logins.';

CREATE FUNCTION tidegate.enable_user(app text, id text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    found text := tidegate.user_id(tidegate.app_id(app), id);
BEGIN
    UPDATE tidegate.users u SET disabled = false WHERE u.id = found AND u.disabled;
END
$$;
COMMENT ON FUNCTION tidegate.enable_user(text, text) IS 'Lets a disabled user log in again; its old tokens stay void.';

CREATE FUNCTION tidegate.delete_user(app text, id text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    found text := tidegate.user_id(tidegate.app_id(app), id);
BEGIN
    DELETE FROM tidegate.users u WHERE u.id = found;
END
$$;
COMMENT ON FUNCTION tidegate.delete_user(text, text) IS
    'Deletes a user with its identities, credentials, API keys and sessions; its documents stay.';

CREATE FUNCTION tidegate.revoke_sessions(app text, id text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    found text := tidegate.user_id(tidegate.app_id(app), id);
    ended integer;
BEGIN
    UPDATE tidegate.sessions s SET revoked_at = now()
        WHERE s.user_id = found AND s.revoked_at IS NULL AND s.expires_at > now();
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN ended;
END
$$;
COMMENT ON FUNCTION tidegate.revoke_sessions(text, text) IS
    'Ends a user''s refresh tokens and returns how many; access tokens already out last up to 30 minutes more.';

-- API keys ----------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.create_api_key(app text, name text) RETURNS TABLE (id text, key text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    target text := tidegate.app_id(app);
    made_user text := tidegate.new_id();
BEGIN
    IF name IS NULL OR name !~ '^[A-Za-z0-9_-]{1,64}$' THEN
        PERFORM tidegate.refuse('name', 'must be 1 to 64 ASCII letters, numbers, underscores or hyphens');
    END IF;
    -- Counts and names hold for callers side by side.
    PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.api_keys ' || target, 0));
    IF EXISTS (SELECT FROM tidegate.api_keys k
               WHERE k.app = target AND k.kind = 'server' AND k.name = create_api_key.name) THEN
        PERFORM tidegate.refuse('name', format('%L is already the name of a server API key', name));
    END IF;
    IF (SELECT count(*) FROM tidegate.api_keys k WHERE k.app = target AND k.kind = 'server') >= 100 THEN
        PERFORM tidegate.refuse('app', 'has 100 server API keys already');
    END IF;
    create_api_key.id := tidegate.new_id();
    create_api_key.key := encode(tidegate.random_secret(), 'hex');
    INSERT INTO tidegate.users (id, app, kind, data)
        VALUES (made_user, target, 'server', json_build_object('name', create_api_key.name));
    INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id, data)
        VALUES (target, 'api-key', create_api_key.id,
                coalesce((SELECT p.id FROM tidegate.providers p WHERE p.app = target AND p.name = 'api-key'),
                         tidegate.new_id()),
                made_user, json_build_object('name', create_api_key.name));
    INSERT INTO tidegate.api_keys (id, app, kind, user_id, name, key_hash)
        VALUES (create_api_key.id, target, 'server', made_user, create_api_key.name,
                sha256(convert_to(create_api_key.key, 'UTF8')));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION tidegate.create_api_key(text, text) IS
    'Makes a server API key and returns its id and the key itself, which is shown this once.';

CREATE FUNCTION tidegate.list_api_keys(app text)
    RETURNS TABLE (id text, name text, kind text, user_id text, disabled boolean, created_at timestamptz,
                   last_used_at timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog
    AS $$ SELECT k.id, k.name, k.kind, k.user_id, k.disabled, k.created_at, k.last_used_at
          FROM tidegate.api_keys k WHERE k.app = tidegate.app_id($1) ORDER BY k.kind, k.created_at, k.id $$;
COMMENT ON FUNCTION tidegate.list_api_keys(text) IS 'The API keys of an app, server keys first; never the keys themselves.';

CREATE FUNCTION tidegate.set_api_key_disabled(app text, id text, disabled boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    UPDATE tidegate.api_keys k SET disabled = set_api_key_disabled.disabled
        WHERE k.app = target AND k.id = set_api_key_disabled.id;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('id', format('%s is no API key of the app', coalesce(quote_literal(id), 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.set_api_key_disabled(text, text, boolean) IS 'What enable_api_key and disable_api_key do.';

CREATE FUNCTION tidegate.disable_api_key(app text, id text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
BEGIN
    PERFORM tidegate.set_api_key_disabled(app, id, true);
END
$$;
COMMENT ON FUNCTION tidegate.disable_api_key(text, text) IS
    'Refuses an API key from the next request on and ends the sessions made with it.';

CREATE FUNCTION tidegate.enable_api_key(app text, id text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
BEGIN
    PERFORM tidegate.set_api_key_disabled(app, id, false);
END
$$;
COMMENT ON FUNCTION tidegate.enable_api_key(text, text) IS 'Accepts a disabled API key again.';

CREATE FUNCTION tidegate.revoke_api_key(app text, id text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog
AS $$
DECLARE
    target text := tidegate.app_id(app);
    removed record;
BEGIN
    DELETE FROM tidegate.api_keys k WHERE k.app = target AND k.id = revoke_api_key.id
        RETURNING k.id, k.kind, k.user_id INTO removed;
    IF removed.id IS NULL THEN
        PERFORM tidegate.refuse('id', format('%s is no API key of the app', coalesce(quote_literal(id), 'null')));
    END IF;
    IF removed.kind = 'server' THEN
        DELETE FROM tidegate.users u WHERE u.id = removed.user_id;
    ELSE
        DELETE FROM tidegate.identities i
            WHERE i.app = target AND i.provider_type = 'api-key' AND i.id = removed.id;
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.revoke_api_key(text, text) IS
    'Deletes an API key, for a server key also its user; requests with it fail from the next one on.';

-- Privileges --------------------------------------------------------------------------------------------

GRANT SELECT, INSERT, UPDATE, DELETE ON tidegate.users, tidegate.identities, tidegate.password_hashes,
    tidegate.api_keys, tidegate.sessions TO tidegate_gateway;
GRANT SELECT ON tidegate.signing_keys TO tidegate_gateway;
GRANT SELECT ON tidegate.users, tidegate.identities, tidegate.sessions TO tidegate_admin, tidegate_readonly;
GRANT SELECT (id, app, kind, user_id, name, disabled, created_at, last_used_at) ON tidegate.api_keys
    TO tidegate_admin, tidegate_readonly;
GRANT SELECT (app, username, user_id, identity_id, confirmed_at, created_at) ON tidegate.password_hashes
    TO tidegate_admin, tidegate_readonly;
GRANT SELECT (id, app, algorithm, valid_from, retired_at) ON tidegate.signing_keys
    TO tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    part text;
    object record;
BEGIN
    FOREACH part IN ARRAY ARRAY['users', 'identities', 'password_hashes', 'api_keys', 'sessions', 'signing_keys'] LOOP
        EXECUTE format('ALTER TABLE tidegate.%I OWNER TO tidegate_owner', part);
    END LOOP;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('announce_user', 'end_sessions_of_user', 'end_sessions_of_key', 'random_secret',
                            'create_signing_key', 'rotate_signing_key', 'pbkdf2_sha256', 'hash_password', 'user_id',
                            'create_user', 'set_password', 'list_users', 'disable_user', 'enable_user', 'delete_user',
                            'revoke_sessions', 'create_api_key', 'list_api_keys', 'set_api_key_disabled',
                            'disable_api_key', 'enable_api_key', 'revoke_api_key')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', object.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        IF object.short LIKE 'list\_%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway, tidegate_readonly', object.name);
        END IF;
    END LOOP;
END
$$;
