-- The configuration of apps: what `tidegate import` writes, what an administrator changes with the
-- functions below, and what every gateway loads. The tables hold the files of an exported app one by
-- one, as JSON text in its own key order (`json`, not `jsonb`: schemas and functions are read by people).
--
-- A statement that changes an app's configuration raises the app's version and notifies
-- `tidegate_config` with the app's id; gateways then load the new snapshot, check it, and keep the old
-- one when the new one has faults (`tidegate.config_errors`).

-- Roles -------------------------------------------------------------------------------------------------

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['tidegate_owner', 'tidegate_gateway', 'tidegate_admin', 'tidegate_readonly'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION
                -- Another database of the same cluster is migrated at this moment.
                WHEN duplicate_object OR unique_violation THEN NULL;
                WHEN insufficient_privilege THEN
                    RAISE EXCEPTION 'role % is missing and % may not create it', wanted, current_user
                        USING ERRCODE = 'insufficient_privilege',
                              HINT = format('As a superuser: CREATE ROLE %I NOLOGIN; and for the owner: '
                                            'GRANT tidegate_owner TO %I;', wanted, current_user);
            END;
        END IF;
    END LOOP;
    IF NOT pg_has_role(current_user, 'tidegate_owner', 'MEMBER') THEN
        EXECUTE format('GRANT tidegate_owner TO %I', current_user);
    END IF;
END
$$;

-- Exists already when the migrator keeps its own table here.
CREATE SCHEMA IF NOT EXISTS tidegate;
ALTER SCHEMA tidegate OWNER TO tidegate_owner;
GRANT USAGE ON SCHEMA tidegate TO tidegate_gateway, tidegate_admin, tidegate_readonly;
COMMENT ON SCHEMA tidegate IS 'Apps, accounts and the catalogue of collections of tidegate.';

-- Identifiers -------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.new_id() RETURNS text
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
    RETURN lpad(to_hex(extract(epoch FROM clock_timestamp())::bigint), 8, '0')
        || left(replace(gen_random_uuid()::text, '-', ''), 16);
COMMENT ON FUNCTION tidegate.new_id() IS
    'A new identifier of 24 hexadecimal digits: seconds since 1970, then random bits.';

CREATE FUNCTION tidegate.new_client_app_id(name text) RETURNS text
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
    RETURN regexp_replace(lower(name), '^[^a-z0-9]*', '')
        || CASE WHEN name ~ '[A-Za-z0-9]' THEN '-' ELSE 'app-' END
        || translate(left(replace(gen_random_uuid()::text, '-', ''), 5), '0123456789', 'ghijklmnop');
COMMENT ON FUNCTION tidegate.new_client_app_id(text) IS
    'A new id for URLs: an app''s name in lower case and five random letters, todo-abcde.';

-- Tables ------------------------------------------------------------------------------------------------

CREATE TABLE tidegate.apps (
    id            text PRIMARY KEY DEFAULT tidegate.new_id() CHECK (id ~ '^[0-9a-f]{24}$'),
    client_app_id text NOT NULL UNIQUE CHECK (client_app_id ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$'),
    name          text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9_-]{1,64}$'),
    config        json NOT NULL DEFAULT '{}' CHECK (json_typeof(config) = 'object'),
    environment   text NOT NULL DEFAULT ''
                  CHECK (environment IN ('', 'development', 'testing', 'qa', 'production')),
    version       bigint NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE tidegate.apps IS 'One row per app; config is the root file without name, app id and environment.';
COMMENT ON COLUMN tidegate.apps.id IS 'Internal id, also the domain_id of its users.';
COMMENT ON COLUMN tidegate.apps.client_app_id IS 'The app id in every URL, for example todo-abcde.';
COMMENT ON COLUMN tidegate.apps.environment IS 'Which environment is in force; empty for none.';
COMMENT ON COLUMN tidegate.apps.version IS 'Raised by every change of the app''s configuration.';

CREATE TABLE tidegate.environments (
    app    text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    tag    text NOT NULL CHECK (tag IN ('', 'development', 'testing', 'qa', 'production')),
    config json NOT NULL CHECK (json_typeof(config) = 'object'),
    PRIMARY KEY (app, tag)
);
COMMENT ON TABLE tidegate.environments IS 'Environment files: {"values": {…}} per tag.';

CREATE TABLE tidegate.app_values (
    app    text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    name   text NOT NULL,
    config json NOT NULL CHECK (json_typeof(config) = 'object'),
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE tidegate.app_values IS 'Values: {"name", "value", "from_secret"}; value is a secret''s name when from_secret.';

CREATE TABLE tidegate.secrets (
    app        text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    name       text NOT NULL,
    value      text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE tidegate.secrets IS 'Secrets by name; never exported, never shown to tidegate_readonly.';

CREATE TABLE tidegate.data_sources (
    app          text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    name         text NOT NULL CHECK (name ~ '^[A-Za-z0-9_-]{1,64}$'),
    config       json NOT NULL CHECK (json_typeof(config) = 'object'),
    default_rule json CHECK (json_typeof(default_rule) = 'object'),
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE tidegate.data_sources IS 'Linked data sources and the rules of collections without their own.';

CREATE TABLE tidegate.collection_rules (
    app           text NOT NULL,
    data_source   text NOT NULL,
    database      text NOT NULL CHECK (database <> ''),
    collection    text NOT NULL CHECK (collection <> ''),
    rules         json CHECK (json_typeof(rules) = 'object'),
    schema        json CHECK (json_typeof(schema) = 'object'),
    relationships json CHECK (json_typeof(relationships) = 'object'),
    PRIMARY KEY (app, data_source, database, collection),
    FOREIGN KEY (app, data_source) REFERENCES tidegate.data_sources ON DELETE CASCADE
);
COMMENT ON TABLE tidegate.collection_rules IS 'Rules, schema and relationships of one collection; each may be absent.';

CREATE TABLE tidegate.functions (
    app    text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    name   text NOT NULL,
    config json NOT NULL CHECK (json_typeof(config) = 'object'),
    source text NOT NULL,
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE tidegate.functions IS 'Functions: their settings and their JavaScript source.';

CREATE TABLE tidegate.endpoints (
    app         text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    route       text NOT NULL,
    http_method text NOT NULL,
    config      json NOT NULL CHECK (json_typeof(config) = 'object'),
    PRIMARY KEY (app, route, http_method)
);
COMMENT ON TABLE tidegate.endpoints IS 'Custom HTTPS endpoints: a route and a method lead to a function.';

CREATE TABLE tidegate.providers (
    app    text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    name   text NOT NULL,
    id     text NOT NULL DEFAULT tidegate.new_id() CHECK (id ~ '^[0-9a-f]{24}$'),
    config json NOT NULL CHECK (json_typeof(config) = 'object'),
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE tidegate.providers IS 'Ways to log in; a provider without a row is disabled.';
COMMENT ON COLUMN tidegate.providers.id IS 'The provider_id of identities.';

CREATE TABLE tidegate.settings (
    app    text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    name   text NOT NULL CHECK (name IN ('data_api_config', 'sync', 'custom_user_data')),
    config json NOT NULL CHECK (json_typeof(config) = 'object'),
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE tidegate.settings IS 'Settings of which an app has one each: Data API, sync, custom user data.';

CREATE TABLE tidegate.triggers (
    app    text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    name   text NOT NULL,
    config json NOT NULL CHECK (json_typeof(config) = 'object'),
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE tidegate.triggers IS 'Triggers, as their files say.';

CREATE TABLE tidegate.other_files (
    app  text NOT NULL REFERENCES tidegate.apps ON DELETE CASCADE,
    path text NOT NULL CHECK (path <> ''),
    body bytea NOT NULL,
    PRIMARY KEY (app, path)
);
COMMENT ON TABLE tidegate.other_files IS 'Files of the imported tree that are kept for export but not served.';

-- No foreign key: a gateway may write after the app is dropped, and must not fail for it.
CREATE TABLE tidegate.config_errors (
    app      text NOT NULL,
    version  bigint NOT NULL,
    at       timestamptz NOT NULL DEFAULT now(),
    errors   json NOT NULL,
    in_force bigint,
    PRIMARY KEY (app, version)
);
COMMENT ON TABLE tidegate.config_errors IS 'Versions that gateways refused to load, and why.';
COMMENT ON COLUMN tidegate.config_errors.errors IS 'Array of {"file", "path", "message"}.';
COMMENT ON COLUMN tidegate.config_errors.in_force IS 'The version that stays in force; null when there is none.';

-- Versions and notification -----------------------------------------------------------------------------

CREATE FUNCTION tidegate.raise_app_version() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ROW(NEW.client_app_id, NEW.name, NEW.config::text, NEW.environment)
       IS DISTINCT FROM ROW(OLD.client_app_id, OLD.name, OLD.config::text, OLD.environment) THEN
        NEW.version := OLD.version + 1;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION tidegate.raise_app_version() IS 'Trigger: a change of an app''s own row raises its version.';

CREATE TRIGGER raise_version BEFORE UPDATE ON tidegate.apps
    FOR EACH ROW EXECUTE FUNCTION tidegate.raise_app_version();

CREATE FUNCTION tidegate.announce_app() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Equal notifications of one transaction are sent once.
    PERFORM pg_notify('tidegate_config', id) FROM (SELECT DISTINCT id FROM changed) AS apps;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.announce_app() IS 'Trigger: tells gateways that an app''s row changed.';

CREATE TRIGGER announce_insert AFTER INSERT ON tidegate.apps REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tidegate.announce_app();
CREATE TRIGGER announce_update AFTER UPDATE ON tidegate.apps REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tidegate.announce_app();
CREATE TRIGGER announce_delete AFTER DELETE ON tidegate.apps REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tidegate.announce_app();

CREATE FUNCTION tidegate.announce_configuration() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- The update announces the app. A statement that changed no row changes no version.
    UPDATE tidegate.apps SET version = version + 1 WHERE id IN (SELECT app FROM changed);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.announce_configuration() IS
    'Trigger: a change of any part of an app raises the app''s version.';

DO $$
DECLARE
    part text;
BEGIN
    FOREACH part IN ARRAY ARRAY[
        'environments', 'app_values', 'secrets', 'data_sources', 'collection_rules', 'functions', 'endpoints',
        'providers', 'settings', 'triggers', 'other_files'
    ] LOOP
        EXECUTE format('CREATE TRIGGER announce_insert AFTER INSERT ON tidegate.%I REFERENCING NEW TABLE AS changed '
                       'FOR EACH STATEMENT EXECUTE FUNCTION tidegate.announce_configuration()', part);
        EXECUTE format('CREATE TRIGGER announce_update AFTER UPDATE ON tidegate.%I REFERENCING NEW TABLE AS changed '
                       'FOR EACH STATEMENT EXECUTE FUNCTION tidegate.announce_configuration()', part);
        EXECUTE format('CREATE TRIGGER announce_delete AFTER DELETE ON tidegate.%I REFERENCING OLD TABLE AS changed '
                       'FOR EACH STATEMENT EXECUTE FUNCTION tidegate.announce_configuration()', part);
    END LOOP;
END
$$;

-- Checks of arguments -----------------------------------------------------------------------------------
-- They catch what can be said without parsing expressions; gateways check the rest when they load.

CREATE FUNCTION tidegate.refuse(field text, reason text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '% %', field, reason USING ERRCODE = 'invalid_parameter_value', COLUMN = field;
END
$$;
COMMENT ON FUNCTION tidegate.refuse(text, text) IS 'Raises 22023 with a message that begins with the field''s name.';

CREATE FUNCTION tidegate.app_id(app text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found text;
BEGIN
    SELECT a.id INTO found FROM tidegate.apps a
        WHERE app IN (a.id, a.client_app_id, a.name)
        ORDER BY (a.id = app) DESC, (a.client_app_id = app) DESC LIMIT 1;
    IF found IS NULL THEN
        PERFORM tidegate.refuse('app', format('%s does not exist', coalesce(quote_literal(app), 'null')));
    END IF;
    RETURN found;
END
$$;
COMMENT ON FUNCTION tidegate.app_id(text) IS
    'The internal id of an app given by internal id, client app id or name. Error 22023 when there is none.';

CREATE FUNCTION tidegate.check_name(field text, name text, longest integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF name IS NULL OR name = '' THEN
        PERFORM tidegate.refuse(field, 'must not be empty');
    ELSIF length(name) > longest THEN
        PERFORM tidegate.refuse(field, format('must not be longer than %s characters', longest));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_name(text, text, integer) IS 'Error 22023 when a name is null, empty or too long.';

CREATE FUNCTION tidegate.check_namespace(database text, collection text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.check_name('database', database, 63);
    PERFORM tidegate.check_name('collection', collection, 255);
    IF database ~ '[/\\. "$*<>:|?]' THEN
        PERFORM tidegate.refuse('database', 'must not contain any of / \ . space " $ * < > : | ?');
    END IF;
    IF collection ~ '\$' THEN
        PERFORM tidegate.refuse('collection', 'must not contain $');
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_namespace(text, text) IS
    'Error 22023 for a database or collection name that MongoDB refuses.';

CREATE FUNCTION tidegate.read_object(field text, value text) RETURNS json
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parsed json;
BEGIN
    IF value IS NULL THEN
        PERFORM tidegate.refuse(field, 'must not be null');
    END IF;
    BEGIN
        parsed := value::json;
    EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
        PERFORM tidegate.refuse(field, 'is not valid JSON');
    END;
    IF json_typeof(parsed) <> 'object' THEN
        PERFORM tidegate.refuse(field, format('must be an object, not %s', json_typeof(parsed)));
    END IF;
    RETURN parsed;
END
$$;
COMMENT ON FUNCTION tidegate.read_object(text, text) IS 'The JSON object in a text. Error 22023 for anything else.';

CREATE FUNCTION tidegate.check_keys(field text, value json, allowed text[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry record;
BEGIN
    IF value IS NULL OR json_typeof(value) <> 'object' THEN
        PERFORM tidegate.refuse(field, format('must be an object, not %s', coalesce(json_typeof(value), 'null')));
    END IF;
    FOR entry IN SELECT key, count(*) AS times FROM json_object_keys(value) AS key GROUP BY key LOOP
        IF entry.times > 1 THEN
            PERFORM tidegate.refuse(field || '.' || entry.key, 'appears twice');
        ELSIF entry.key <> ALL (allowed) THEN
            PERFORM tidegate.refuse(field || '.' || entry.key,
                                    'is not a known key; known are ' || array_to_string(allowed, ', '));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.check_keys(text, json, text[]) IS
    'Error 22023 when a value is no object or has a key that is not in the list.';

CREATE FUNCTION tidegate.check_types(field text, value json, key text, allowed text[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF value -> key IS NOT NULL AND json_typeof(value -> key) <> ALL (allowed) THEN
        PERFORM tidegate.refuse(field || '.' || key,
            format('must be %s, not %s', array_to_string(allowed, ' or '), json_typeof(value -> key)));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_types(text, json, text, text[]) IS
    'Error 22023 when a key is present and its JSON type is not in the list.';

CREATE FUNCTION tidegate.check_field_permissions(field text, value json, nested boolean, depth integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry record;
BEGIN
    IF depth > 50 THEN
        PERFORM tidegate.refuse(field, 'is nested too deeply');
    END IF;
    PERFORM tidegate.check_keys(field, value,
        CASE WHEN nested THEN ARRAY['read', 'write', 'fields'] ELSE ARRAY['read', 'write'] END);
    PERFORM tidegate.check_types(field, value, 'read', ARRAY['boolean', 'object']);
    PERFORM tidegate.check_types(field, value, 'write', ARRAY['boolean', 'object']);
    PERFORM tidegate.check_types(field, value, 'fields', ARRAY['object']);
    IF value -> 'fields' IS NOT NULL THEN
        FOR entry IN SELECT * FROM json_each(value -> 'fields') LOOP
            PERFORM tidegate.check_field_permissions(field || '.fields.' || entry.key, entry.value, true, depth + 1);
        END LOOP;
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_field_permissions(text, json, boolean, integer) IS
    'Error 22023 when field permissions are not of the form {read, write, fields}.';

CREATE FUNCTION tidegate.check_rules(field text, rules json) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    list text;
    entry record;
    part text;
    place text;
    names text[];
    permission text;
    nested record;
BEGIN
    PERFORM tidegate.check_keys(field, rules, ARRAY['id', 'database', 'collection', 'roles', 'filters']);
    IF rules -> 'roles' IS NULL THEN
        PERFORM tidegate.refuse(field || '.roles', 'is required');
    END IF;
    FOREACH list IN ARRAY ARRAY['roles', 'filters'] LOOP
        PERFORM tidegate.check_types(field, rules, list, ARRAY['array']);
        names := '{}';
        FOR entry IN
            SELECT value, number - 1 AS index FROM json_array_elements(rules -> list) WITH ORDINALITY AS e (value, number)
        LOOP
            place := format('%s.%s[%s]', field, list, entry.index);
            PERFORM tidegate.check_keys(place, entry.value, CASE list
                WHEN 'roles' THEN ARRAY['name', 'apply_when', 'document_filters', 'read', 'write', 'insert', 'delete',
                                        'search', 'fields', 'additional_fields']
                ELSE ARRAY['name', 'apply_when', 'query', 'projection', 'project'] END);
            FOREACH part IN ARRAY ARRAY['name', 'apply_when'] LOOP
                IF entry.value -> part IS NULL THEN
                    PERFORM tidegate.refuse(place || '.' || part, 'is required');
                END IF;
            END LOOP;
            PERFORM tidegate.check_types(place, entry.value, 'name', ARRAY['string']);
            PERFORM tidegate.check_name(place || '.name', entry.value ->> 'name', 100);
            IF entry.value ->> 'name' = ANY (names) THEN
                PERFORM tidegate.refuse(place || '.name', format('%L is used twice', entry.value ->> 'name'));
            END IF;
            names := names || (entry.value ->> 'name');
            FOREACH permission IN ARRAY ARRAY['apply_when', 'read', 'write', 'insert', 'delete', 'search'] LOOP
                PERFORM tidegate.check_types(place, entry.value, permission, ARRAY['boolean', 'object']);
            END LOOP;
            FOREACH part IN ARRAY ARRAY['document_filters', 'fields', 'additional_fields', 'query', 'projection', 'project'] LOOP
                PERFORM tidegate.check_types(place, entry.value, part, ARRAY['object']);
            END LOOP;
            IF entry.value -> 'document_filters' IS NOT NULL THEN
                PERFORM tidegate.check_field_permissions(
                    place || '.document_filters', entry.value -> 'document_filters', false, 0);
            END IF;
            IF entry.value -> 'additional_fields' IS NOT NULL THEN
                PERFORM tidegate.check_field_permissions(
                    place || '.additional_fields', entry.value -> 'additional_fields', false, 0);
            END IF;
            IF entry.value -> 'fields' IS NOT NULL THEN
                FOR nested IN SELECT * FROM json_each(entry.value -> 'fields') LOOP
                    PERFORM tidegate.check_field_permissions(
                        place || '.fields.' || nested.key, nested.value, true, 0);
                END LOOP;
            END IF;
        END LOOP;
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.check_rules(text, json) IS
    'Error 22023 naming the first key of rules that is missing, unknown or of another type.';

-- Apps --------------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.create_app(name text, client_app_id text DEFAULT NULL, environment text DEFAULT '')
    RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    created text;
BEGIN
    PERFORM tidegate.check_name('name', name, 64);
    IF name !~ '^[A-Za-z0-9_-]+$' THEN
        PERFORM tidegate.refuse('name', 'may hold only letters, digits, - and _');
    END IF;
    IF client_app_id IS NULL THEN
        client_app_id := tidegate.new_client_app_id(name);
    ELSIF client_app_id !~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$' THEN
        PERFORM tidegate.refuse('client_app_id', 'must be 1 to 128 letters, digits, - and _, beginning with a letter or digit');
    END IF;
    IF environment IS NULL OR environment NOT IN ('', 'development', 'testing', 'qa', 'production') THEN
        PERFORM tidegate.refuse('environment', 'must be empty, development, testing, qa or production');
    END IF;
    IF EXISTS (SELECT FROM tidegate.apps a WHERE a.name = create_app.name) THEN
        PERFORM tidegate.refuse('name', format('%L is taken', name));
    END IF;
    IF EXISTS (SELECT FROM tidegate.apps a WHERE a.client_app_id = create_app.client_app_id) THEN
        PERFORM tidegate.refuse('client_app_id', format('%L is taken', client_app_id));
    END IF;
    INSERT INTO tidegate.apps (name, client_app_id, environment)
        VALUES (create_app.name, create_app.client_app_id, create_app.environment)
        RETURNING id INTO created;
    INSERT INTO tidegate.data_sources (app, name, config)
        VALUES (created, 'mongodb-atlas', '{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}}');
    RETURN created;
END
$$;
COMMENT ON FUNCTION tidegate.create_app(text, text, text) IS
    'Creates an empty app with the data source mongodb-atlas and returns its internal id. Without client_app_id one is made: the name and five letters.';

CREATE FUNCTION tidegate.drop_app(app text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    DELETE FROM tidegate.apps a WHERE a.id = target;
    DELETE FROM tidegate.config_errors e WHERE e.app = target;
END
$$;
COMMENT ON FUNCTION tidegate.drop_app(text) IS
    'Removes an app with its configuration and users. Collections and their documents stay.';

CREATE FUNCTION tidegate.set_environment(app text, environment text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    IF environment IS NULL OR environment NOT IN ('', 'development', 'testing', 'qa', 'production') THEN
        PERFORM tidegate.refuse('environment', 'must be empty, development, testing, qa or production');
    END IF;
    UPDATE tidegate.apps a SET environment = set_environment.environment WHERE a.id = target;
END
$$;
COMMENT ON FUNCTION tidegate.set_environment(text, text) IS 'Puts an environment in force: empty, development, testing, qa or production.';

CREATE FUNCTION tidegate.set_environment_values(app text, environment text, "values" anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := tidegate.read_object('values', "values"::text);
BEGIN
    IF environment IS NULL OR environment NOT IN ('', 'development', 'testing', 'qa', 'production') THEN
        PERFORM tidegate.refuse('environment', 'must be empty, development, testing, qa or production');
    END IF;
    INSERT INTO tidegate.environments AS e (app, tag, config)
        VALUES (target, environment, json_build_object('values', parsed))
        ON CONFLICT ON CONSTRAINT environments_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_environment_values(text, text, anycompatible) IS
    'Replaces the values of one environment; values is an object, as json, jsonb or text.';

CREATE FUNCTION tidegate.set_allowed_request_origins(app text, origins text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    origin text;
BEGIN
    IF origins IS NULL THEN
        PERFORM tidegate.refuse('origins', 'must not be null');
    END IF;
    FOREACH origin IN ARRAY origins LOOP
        IF origin IS NULL OR origin !~ '^[a-z][a-z0-9+.-]*://[^/ ]+$' THEN
            PERFORM tidegate.refuse('origins', format('holds %s, which is not of the form scheme://host[:port]',
                                                      coalesce(quote_literal(origin), 'null')));
        END IF;
    END LOOP;
    UPDATE tidegate.apps a
        SET config = (jsonb_set(a.config::jsonb, '{allowed_request_origins}', to_jsonb(origins)))::json
        WHERE a.id = target;
END
$$;
COMMENT ON FUNCTION tidegate.set_allowed_request_origins(text, text[]) IS
    'Restricts browsers to these origins (scheme://host[:port]); an empty array admits all.';

-- Data sources, rules, schemas --------------------------------------------------------------------------

CREATE FUNCTION tidegate.add_data_source(app text, source text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    PERFORM tidegate.check_name('source', source, 64);
    IF source !~ '^[A-Za-z0-9_-]+$' THEN
        PERFORM tidegate.refuse('source', 'may hold only letters, digits, - and _');
    END IF;
    IF EXISTS (SELECT FROM tidegate.data_sources d WHERE d.app = target AND d.name = source) THEN
        PERFORM tidegate.refuse('source', format('%L exists', source));
    END IF;
    INSERT INTO tidegate.data_sources (app, name, config)
        VALUES (target, source, json_build_object('name', source, 'type', 'mongodb-atlas', 'config', '{}'::json));
END
$$;
COMMENT ON FUNCTION tidegate.add_data_source(text, text) IS 'Adds a data source to an app.';

CREATE FUNCTION tidegate.check_source(app text, source text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF source IS NULL OR NOT EXISTS (
        SELECT FROM tidegate.data_sources d WHERE d.app = check_source.app AND d.name = source
    ) THEN
        PERFORM tidegate.refuse('source', format('%s does not exist', coalesce(quote_literal(source), 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_source(text, text) IS 'Error 22023 when an app (internal id) has no such data source.';

CREATE FUNCTION tidegate.set_rules(app text, source text, database text, collection text, rules anycompatible)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := CASE WHEN rules IS NOT NULL THEN tidegate.read_object('rules', rules::text) END;
BEGIN
    PERFORM tidegate.check_source(target, source);
    PERFORM tidegate.check_namespace(database, collection);
    IF parsed IS NOT NULL THEN
        PERFORM tidegate.check_rules('rules', parsed);
    END IF;
    INSERT INTO tidegate.collection_rules AS c (app, data_source, database, collection, rules)
        VALUES (target, source, set_rules.database, set_rules.collection, parsed)
        ON CONFLICT ON CONSTRAINT collection_rules_pkey DO UPDATE SET rules = excluded.rules;
    PERFORM tidegate.ensure_collection(database, collection);
END
$$;
COMMENT ON FUNCTION tidegate.set_rules(text, text, text, text, anycompatible) IS
    'Replaces the rules of a collection: {"roles": [...], "filters": [...]} as json, jsonb or text; null removes them, so that the default rules of the data source apply.';

CREATE FUNCTION tidegate.set_default_rules(app text, source text, rules anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := CASE WHEN rules IS NOT NULL THEN tidegate.read_object('rules', rules::text) END;
BEGIN
    PERFORM tidegate.check_source(target, source);
    IF parsed IS NOT NULL THEN
        PERFORM tidegate.check_rules('rules', parsed);
    END IF;
    UPDATE tidegate.data_sources d SET default_rule = parsed WHERE d.app = target AND d.name = source;
END
$$;
COMMENT ON FUNCTION tidegate.set_default_rules(text, text, anycompatible) IS
    'Replaces the rules for collections of a data source that have none of their own; null removes them.';

CREATE FUNCTION tidegate.set_schema(app text, source text, database text, collection text, schema anycompatible)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := CASE WHEN schema IS NOT NULL THEN tidegate.read_object('schema', schema::text) END;
BEGIN
    PERFORM tidegate.check_source(target, source);
    PERFORM tidegate.check_namespace(database, collection);
    IF parsed IS NOT NULL THEN
        PERFORM tidegate.check_types('schema', parsed, 'title', ARRAY['string']);
        PERFORM tidegate.check_types('schema', parsed, 'bsonType', ARRAY['string', 'array']);
        PERFORM tidegate.check_types('schema', parsed, 'type', ARRAY['string', 'array']);
        PERFORM tidegate.check_types('schema', parsed, 'properties', ARRAY['object']);
        PERFORM tidegate.check_types('schema', parsed, 'required', ARRAY['array']);
    END IF;
    INSERT INTO tidegate.collection_rules AS c (app, data_source, database, collection, schema)
        VALUES (target, source, set_schema.database, set_schema.collection, parsed)
        ON CONFLICT ON CONSTRAINT collection_rules_pkey DO UPDATE SET schema = excluded.schema;
    PERFORM tidegate.ensure_collection(database, collection);
END
$$;
COMMENT ON FUNCTION tidegate.set_schema(text, text, text, text, anycompatible) IS
    'Replaces the schema of a collection, as json, jsonb or text; null removes it. Use json or text where the order of properties matters.';

CREATE FUNCTION tidegate.set_relationships(
    app text, source text, database text, collection text, relationships anycompatible
) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := CASE WHEN relationships IS NOT NULL
                        THEN tidegate.read_object('relationships', relationships::text) END;
    entry record;
BEGIN
    PERFORM tidegate.check_source(target, source);
    PERFORM tidegate.check_namespace(database, collection);
    IF parsed IS NOT NULL THEN
        FOR entry IN SELECT * FROM json_each(parsed) LOOP
            PERFORM tidegate.check_keys('relationships.' || entry.key, entry.value,
                                        ARRAY['ref', 'source_key', 'foreign_key', 'is_list']);
        END LOOP;
    END IF;
    INSERT INTO tidegate.collection_rules AS c (app, data_source, database, collection, relationships)
        VALUES (target, source, set_relationships.database, set_relationships.collection, parsed)
        ON CONFLICT ON CONSTRAINT collection_rules_pkey DO UPDATE SET relationships = excluded.relationships;
END
$$;
COMMENT ON FUNCTION tidegate.set_relationships(text, text, text, text, anycompatible) IS
    'Replaces the relationships of a collection: field path to {"ref", "foreign_key", "is_list"}; null removes them.';

-- Accounts and the Data API -----------------------------------------------------------------------------

CREATE FUNCTION tidegate.set_provider(app text, name text, config anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := CASE WHEN config IS NOT NULL THEN tidegate.read_object('config', config::text) END;
BEGIN
    IF name IS NULL OR name NOT IN ('anon-user', 'api-key', 'local-userpass', 'custom-token', 'custom-function',
                                    'oauth2-google', 'oauth2-facebook', 'oauth2-apple') THEN
        PERFORM tidegate.refuse('name', format('%s is not a provider; known are anon-user, api-key, local-userpass, '
            'custom-token, custom-function, oauth2-google, oauth2-facebook, oauth2-apple', coalesce(quote_literal(name), 'null')));
    END IF;
    IF parsed IS NULL THEN
        DELETE FROM tidegate.providers p WHERE p.app = target AND p.name = set_provider.name;
        RETURN;
    END IF;
    PERFORM tidegate.check_keys('config', parsed, ARRAY['id', 'name', 'type', 'disabled', 'config', 'secret_config',
                                                        'metadata_fields', 'redirect_uris', 'domain_restrictions']);
    PERFORM tidegate.check_types('config', parsed, 'disabled', ARRAY['boolean']);
    PERFORM tidegate.check_types('config', parsed, 'config', ARRAY['object', 'null']);
    PERFORM tidegate.check_types('config', parsed, 'secret_config', ARRAY['object', 'null']);
    PERFORM tidegate.check_types('config', parsed, 'metadata_fields', ARRAY['array', 'null']);
    PERFORM tidegate.check_types('config', parsed, 'redirect_uris', ARRAY['array', 'null']);
    PERFORM tidegate.check_types('config', parsed, 'domain_restrictions', ARRAY['array', 'null']);
    IF coalesce(parsed ->> 'name', name) <> name THEN
        PERFORM tidegate.refuse('config.name', 'must be the provider''s name');
    END IF;
    IF coalesce(parsed ->> 'type', name) <> name THEN
        PERFORM tidegate.refuse('config.type', 'must be the provider''s name');
    END IF;
    IF parsed ->> 'name' IS NULL OR parsed ->> 'type' IS NULL THEN
        parsed := (jsonb_build_object('name', name, 'type', name) || parsed::jsonb)::json;
    END IF;
    INSERT INTO tidegate.providers AS p (app, name, config)
        VALUES (target, set_provider.name, parsed)
        ON CONFLICT ON CONSTRAINT providers_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_provider(text, text, anycompatible) IS
    'Sets up a way to log in: {"disabled": false, "config": {...}} as in auth/providers.json; null removes it.';

CREATE FUNCTION tidegate.set_data_api(app text, config anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := CASE WHEN config IS NOT NULL THEN tidegate.read_object('config', config::text) END;
    part text;
BEGIN
    IF parsed IS NULL THEN
        DELETE FROM tidegate.settings s WHERE s.app = target AND s.name = 'data_api_config';
        RETURN;
    END IF;
    PERFORM tidegate.check_keys('config', parsed, ARRAY[
        'disabled', 'versions', 'return_type', 'create_user_on_auth', 'run_as_system', 'run_as_user_id',
        'run_as_user_id_script_source', 'can_evaluate', 'validation_method', 'verification_method', 'secret_name',
        'fetch_custom_user_data', 'log_function_arguments']);
    FOREACH part IN ARRAY ARRAY['disabled', 'create_user_on_auth', 'run_as_system', 'fetch_custom_user_data',
                                'log_function_arguments'] LOOP
        PERFORM tidegate.check_types('config', parsed, part, ARRAY['boolean']);
    END LOOP;
    FOREACH part IN ARRAY ARRAY['return_type', 'run_as_user_id', 'run_as_user_id_script_source', 'validation_method',
                                'verification_method', 'secret_name'] LOOP
        PERFORM tidegate.check_types('config', parsed, part, ARRAY['string']);
    END LOOP;
    PERFORM tidegate.check_types('config', parsed, 'versions', ARRAY['array']);
    PERFORM tidegate.check_types('config', parsed, 'can_evaluate', ARRAY['object', 'boolean']);
    IF coalesce(parsed ->> 'return_type', 'JSON') NOT IN ('JSON', 'EJSON') THEN
        PERFORM tidegate.refuse('config.return_type', 'must be JSON or EJSON');
    END IF;
    INSERT INTO tidegate.settings AS s (app, name, config) VALUES (target, 'data_api_config', parsed)
        ON CONFLICT ON CONSTRAINT settings_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_data_api(text, anycompatible) IS
    'Sets up the Data API: {"disabled": false, "versions": ["v1"], "return_type": "JSON", ...} as in data_api_config.json; null turns it off.';

CREATE FUNCTION tidegate.set_custom_user_data(app text, config anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := tidegate.read_object('config', config::text);
    part text;
BEGIN
    PERFORM tidegate.check_keys('config', parsed, ARRAY[
        'enabled', 'mongo_service_name', 'database_name', 'collection_name', 'user_id_field',
        'on_user_creation_function_name']);
    PERFORM tidegate.check_types('config', parsed, 'enabled', ARRAY['boolean']);
    IF coalesce((parsed ->> 'enabled')::boolean, false) THEN
        FOREACH part IN ARRAY ARRAY['database_name', 'collection_name', 'user_id_field'] LOOP
            IF coalesce(parsed ->> part, '') = '' THEN
                PERFORM tidegate.refuse('config.' || part, 'is required');
            END IF;
        END LOOP;
        IF parsed ->> 'mongo_service_name' IS NOT NULL THEN
            PERFORM tidegate.check_source(target, parsed ->> 'mongo_service_name');
        END IF;
    END IF;
    INSERT INTO tidegate.settings AS s (app, name, config) VALUES (target, 'custom_user_data', parsed)
        ON CONFLICT ON CONSTRAINT settings_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_custom_user_data(text, anycompatible) IS
    'Says in which collection the data of users lies: as in auth/custom_user_data.json.';

-- Values and secrets ------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.set_value(app text, name text, value anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json;
BEGIN
    PERFORM tidegate.check_name('name', name, 64);
    IF value IS NULL THEN
        DELETE FROM tidegate.app_values v WHERE v.app = target AND v.name = set_value.name;
        RETURN;
    END IF;
    BEGIN
        parsed := value::text::json;
    EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
        PERFORM tidegate.refuse('value', 'is not valid JSON; write a string with its double quotes');
    END;
    INSERT INTO tidegate.app_values AS v (app, name, config)
        VALUES (target, set_value.name,
                json_build_object('name', set_value.name, 'value', parsed, 'from_secret', false))
        ON CONFLICT ON CONSTRAINT app_values_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_value(text, text, anycompatible) IS
    'Sets a value that rules read as %%values.<name>: any JSON, as json, jsonb or text; null removes it.';

CREATE FUNCTION tidegate.set_value_from_secret(app text, name text, secret text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    PERFORM tidegate.check_name('name', name, 64);
    IF secret IS NULL OR NOT EXISTS (SELECT FROM tidegate.secrets s WHERE s.app = target AND s.name = secret) THEN
        PERFORM tidegate.refuse('secret', format('%s does not exist', coalesce(quote_literal(secret), 'null')));
    END IF;
    INSERT INTO tidegate.app_values AS v (app, name, config)
        VALUES (target, set_value_from_secret.name,
                json_build_object('name', set_value_from_secret.name, 'value', secret, 'from_secret', true))
        ON CONFLICT ON CONSTRAINT app_values_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_value_from_secret(text, text, text) IS
    'Sets a value whose content is a secret, given by the secret''s name.';

CREATE FUNCTION tidegate.set_secret(app text, name text, value text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    PERFORM tidegate.check_name('name', name, 64);
    IF value IS NULL THEN
        DELETE FROM tidegate.secrets s WHERE s.app = target AND s.name = set_secret.name;
        RETURN;
    END IF;
    INSERT INTO tidegate.secrets AS s (app, name, value) VALUES (target, set_secret.name, set_secret.value)
        ON CONFLICT ON CONSTRAINT secrets_pkey DO UPDATE SET value = excluded.value, changed_at = now();
END
$$;
COMMENT ON FUNCTION tidegate.set_secret(text, text, text) IS 'Sets a secret; null removes it.';

-- Lists -------------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.list_apps()
    RETURNS TABLE (id text, client_app_id text, name text, environment text, version bigint, created_at timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT id, client_app_id, name, environment, version, created_at FROM tidegate.apps ORDER BY name $$;
COMMENT ON FUNCTION tidegate.list_apps() IS 'All apps.';

CREATE FUNCTION tidegate.list_data_sources(app text)
    RETURNS TABLE (name text, config json, default_rule json)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT d.name, d.config, d.default_rule FROM tidegate.data_sources d
          WHERE d.app = tidegate.app_id($1) ORDER BY d.name $$;
COMMENT ON FUNCTION tidegate.list_data_sources(text) IS 'The data sources of an app.';

CREATE FUNCTION tidegate.list_rules(app text)
    RETURNS TABLE (source text, database text, collection text, rules json, schema json, relationships json)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT c.data_source, c.database, c.collection, c.rules, c.schema, c.relationships
          FROM tidegate.collection_rules c WHERE c.app = tidegate.app_id($1)
          ORDER BY c.data_source, c.database, c.collection $$;
COMMENT ON FUNCTION tidegate.list_rules(text) IS 'Rules, schemas and relationships of an app, by collection.';

CREATE FUNCTION tidegate.list_functions(app text) RETURNS TABLE (name text, config json, source text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT f.name, f.config, f.source FROM tidegate.functions f
          WHERE f.app = tidegate.app_id($1) ORDER BY f.name $$;
COMMENT ON FUNCTION tidegate.list_functions(text) IS 'The functions of an app.';

CREATE FUNCTION tidegate.list_endpoints(app text) RETURNS TABLE (route text, http_method text, config json)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT e.route, e.http_method, e.config FROM tidegate.endpoints e
          WHERE e.app = tidegate.app_id($1) ORDER BY e.route, e.http_method $$;
COMMENT ON FUNCTION tidegate.list_endpoints(text) IS 'The custom endpoints of an app.';

CREATE FUNCTION tidegate.list_providers(app text) RETURNS TABLE (name text, id text, config json)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT p.name, p.id, p.config FROM tidegate.providers p
          WHERE p.app = tidegate.app_id($1) ORDER BY p.name $$;
COMMENT ON FUNCTION tidegate.list_providers(text) IS 'The ways to log in to an app.';

CREATE FUNCTION tidegate.list_values(app text) RETURNS TABLE (name text, config json)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT v.name, v.config FROM tidegate.app_values v WHERE v.app = tidegate.app_id($1) ORDER BY v.name $$;
COMMENT ON FUNCTION tidegate.list_values(text) IS 'The values of an app.';

CREATE FUNCTION tidegate.list_secrets(app text) RETURNS TABLE (name text, changed_at timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT s.name, s.changed_at FROM tidegate.secrets s WHERE s.app = tidegate.app_id($1) ORDER BY s.name $$;
COMMENT ON FUNCTION tidegate.list_secrets(text) IS 'The names of an app''s secrets, never their content.';

CREATE FUNCTION tidegate.list_config_errors(app text)
    RETURNS TABLE (version bigint, at timestamptz, in_force bigint, file text, path text, message text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT c.version, c.at, c.in_force, e ->> 'file', e ->> 'path', e ->> 'message'
          FROM tidegate.config_errors c, json_array_elements(c.errors) AS e
          WHERE c.app = tidegate.app_id($1) ORDER BY c.version DESC $$;
COMMENT ON FUNCTION tidegate.list_config_errors(text) IS
    'Why gateways refused a version of an app, newest first, and which version is in force instead.';

-- Privileges --------------------------------------------------------------------------------------------

GRANT SELECT ON tidegate.apps, tidegate.environments, tidegate.app_values, tidegate.data_sources,
    tidegate.collection_rules, tidegate.functions, tidegate.endpoints, tidegate.providers, tidegate.settings,
    tidegate.triggers, tidegate.other_files, tidegate.config_errors
    TO tidegate_gateway, tidegate_admin, tidegate_readonly;
GRANT SELECT ON tidegate.secrets TO tidegate_gateway, tidegate_admin;
GRANT SELECT (app, name, changed_at) ON tidegate.secrets TO tidegate_readonly;
GRANT INSERT, UPDATE, DELETE ON tidegate.apps, tidegate.environments, tidegate.app_values, tidegate.secrets,
    tidegate.data_sources, tidegate.collection_rules, tidegate.functions, tidegate.endpoints, tidegate.providers,
    tidegate.settings, tidegate.triggers, tidegate.other_files, tidegate.config_errors
    TO tidegate_admin;
GRANT INSERT, UPDATE, DELETE ON tidegate.config_errors TO tidegate_gateway;

DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relnamespace = 'tidegate'::regnamespace AND c.relkind = 'r'
          AND c.relname IN ('apps', 'environments', 'app_values', 'secrets', 'data_sources', 'collection_rules',
                            'functions', 'endpoints', 'providers', 'settings', 'triggers', 'other_files',
                            'config_errors')
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO tidegate_owner', object.name);
    END LOOP;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short, p.prorettype = 'trigger'::regtype AS is_trigger
        FROM pg_proc p WHERE p.pronamespace = 'tidegate'::regnamespace
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', object.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        IF object.short LIKE 'list\_%' OR object.short IN ('app_id', 'refuse') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway, tidegate_readonly', object.name);
        END IF;
    END LOOP;
END
$$;
