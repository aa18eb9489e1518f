-- Administration through SQL, complete for what exists: a function for every act, typed views for people,
-- and roles that hold no more than they need.
--
-- Every function that a person calls runs as tidegate_owner and begins the message of a refusal with the
-- name of the argument (SQLSTATE 22023). The functions under "What the gateway may read" are the process's
-- only way to password hashes, keys and secrets: one account or app in a transaction, so that a statement
-- that was tampered with cannot carry off a table.

-- Functions of before -----------------------------------------------------------------------------------

-- A path that does not name pg_temp looks there first, and whoever calls a function that runs as its owner
-- could put types of his own there.
DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT p.oid::regprocedure AS name FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace AND p.proconfig = '{search_path=pg_catalog}'
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', object.name);
    END LOOP;
END
$$;

-- In a WHERE clause the look-up of the app is not reached when the table is empty, and a misspelt app would
-- look like one that has nothing.
DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT pg_get_functiondef(p.oid) AS definition FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace AND p.proname LIKE 'list\_%' AND p.pronargs > 0
    LOOP
        EXECUTE replace(object.definition, 'AS $function$', 'AS $function$ SELECT tidegate.app_id($1); ');
    END LOOP;
END
$$;

CREATE FUNCTION tidegate.refuse_missing(field text, value text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.refuse(field, format('%s does not exist', coalesce(quote_literal(value), 'null')));
END
$$;
COMMENT ON FUNCTION tidegate.refuse_missing(text, text) IS 'Refuses a name that leads nowhere.';

CREATE FUNCTION tidegate.check_each(field text, value json, keys text[], allowed text[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key text;
BEGIN
    FOREACH key IN ARRAY keys LOOP
        PERFORM tidegate.check_types(field, value, key, allowed);
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.check_each(text, json, text[], text[]) IS 'check_types for several keys.';

CREATE OR REPLACE FUNCTION tidegate.new_client_app_id(name text) RETURNS text
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.check_name('name', name, 64);
    RETURN regexp_replace(lower(name), '^[^a-z0-9]*', '')
        || CASE WHEN name ~ '[A-Za-z0-9]' THEN '-' ELSE 'app-' END
        || translate(left(replace(gen_random_uuid()::text, '-', ''), 5), '0123456789', 'ghijklmnop');
END
$$;

-- What the gateway may read -----------------------------------------------------------------------------

CREATE FUNCTION tidegate.once(subject text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    kind integer := hashtext('tidegate.once ' || subject);
BEGIN
    -- A lock that ends with the transaction and that no session can take from another: a mark that the
    -- caller cannot wipe away.
    IF EXISTS (SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND l.locktype = 'advisory'
               AND l.classid = kind::oid AND l.objid = pg_backend_pid()::oid AND l.objsubid = 2) THEN
        RAISE EXCEPTION '% may be read once in a transaction', subject USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(kind, pg_backend_pid());
END
$$;
COMMENT ON FUNCTION tidegate.once(text) IS 'Refuses (42501) when it was called before in the same transaction.';

CREATE FUNCTION tidegate.read_password(app text, username text)
    RETURNS TABLE (hash text, identity_id text, is_confirmed boolean, user_id text)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.once('a password');
    RETURN QUERY SELECT p.hash, p.identity_id, p.confirmed_at IS NOT NULL, p.user_id
        FROM tidegate.password_hashes p
        WHERE p.app = read_password.app AND p.username = read_password.username;
END
$$;
COMMENT ON FUNCTION tidegate.read_password(text, text) IS
    'For the gateway: the password of one account, once in a transaction.';

CREATE FUNCTION tidegate.register_password(app text, username text, hash text, identity_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO tidegate.password_hashes (app, username, hash, identity_id, confirmed_at)
        VALUES (register_password.app, register_password.username, register_password.hash,
                register_password.identity_id, now())
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION tidegate.register_password(text, text, text, text) IS
    'For the gateway: a confirmed registration; false when the name is taken.';

CREATE FUNCTION tidegate.replace_password_hash(app text, username text, old text, new text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE tidegate.password_hashes p SET hash = replace_password_hash.new
        WHERE p.app = replace_password_hash.app AND p.username = replace_password_hash.username
          AND p.hash = replace_password_hash.old;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION tidegate.replace_password_hash(text, text, text, text) IS
    'For the gateway: a better hash of the same password, given the old one.';

CREATE FUNCTION tidegate.claim_registration(
    app text, username text, user_id text, provider_type text, provider_id text, data json
) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    claimed text;
BEGIN
    SELECT p.identity_id INTO claimed FROM tidegate.password_hashes p
        WHERE p.app = claim_registration.app AND p.username = claim_registration.username
          AND p.user_id IS NULL AND p.confirmed_at IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO tidegate.users (id, app, data, last_login_at)
        VALUES (claim_registration.user_id, claim_registration.app, claim_registration.data, now());
    INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id, data)
        VALUES (claim_registration.app, claim_registration.provider_type, claimed,
                coalesce((SELECT p.id FROM tidegate.providers p WHERE p.app = claim_registration.app
                          AND p.name = claim_registration.provider_type), claim_registration.provider_id),
                claim_registration.user_id, claim_registration.data);
    UPDATE tidegate.password_hashes p SET user_id = claim_registration.user_id
        WHERE p.app = claim_registration.app AND p.username = claim_registration.username;
    RETURN true;
END
$$;
COMMENT ON FUNCTION tidegate.claim_registration(text, text, text, text, text, json) IS
    'For the gateway: the first login of a registered user makes the user; false when another login came first.';

CREATE FUNCTION tidegate.use_api_key(app text, digest bytea)
    RETURNS TABLE (id text, disabled boolean, user_id text)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    used timestamptz;
BEGIN
    SELECT k.id, k.disabled, k.user_id, k.last_used_at INTO id, disabled, user_id, used FROM tidegate.api_keys k
        WHERE k.key_hash = digest AND k.app = use_api_key.app;
    IF NOT FOUND THEN RETURN; END IF;
    IF NOT disabled AND (used IS NULL OR used < date_trunc('minute', now())) THEN
        UPDATE tidegate.api_keys k SET last_used_at = date_trunc('minute', now()) WHERE k.id = use_api_key.id;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION tidegate.use_api_key(text, bytea) IS
    'For the gateway: the API key with this SHA-256; its use is noted to the minute.';

CREATE FUNCTION tidegate.read_secrets(app text) RETURNS TABLE (name text, value text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    PERFORM tidegate.once('the secrets of an app');
    RETURN QUERY SELECT s.name, s.value FROM tidegate.secrets s WHERE s.app = target ORDER BY s.name;
END
$$;
COMMENT ON FUNCTION tidegate.read_secrets(text) IS
    'The secrets of one app, once in a transaction: for the gateway, and for an export.';

CREATE FUNCTION tidegate.read_signing_keys(app text)
    RETURNS TABLE (id text, secret bytea, valid_from timestamptz, retired_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.once('the signing keys of an app');
    RETURN QUERY SELECT k.id, k.secret, k.valid_from, k.retired_at FROM tidegate.signing_keys k
        WHERE k.app = read_signing_keys.app AND (k.retired_at IS NULL OR k.retired_at > now());
END
$$;
COMMENT ON FUNCTION tidegate.read_signing_keys(text) IS
    'For the gateway: the keys of one app that are believed, once in a transaction.';

-- Views for people --------------------------------------------------------------------------------------

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'tidegate_views') THEN
        EXECUTE 'CREATE SCHEMA tidegate_views AUTHORIZATION tidegate_owner';
    END IF;
END
$$;
GRANT USAGE ON SCHEMA tidegate_views TO tidegate_admin, tidegate_readonly;
COMMENT ON SCHEMA tidegate_views IS
    'A view per collection, "<database>.<collection>", with a typed column per known field; to be read, not written.';

CREATE OR REPLACE FUNCTION tidegate.safe_name(name text, is_schema boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    RETURN CASE
        WHEN octet_length(name) BETWEEN 1 AND 63
            AND NOT (is_schema AND (name IN ('tidegate', 'tidegate_views', 'public', 'information_schema')
                                    OR name LIKE 'pg\_%'))
        THEN name
        ELSE 'c_' || left(regexp_replace(name, '[^A-Za-z0-9_]', '_', 'g'), 24) || '_' || md5(name) END;

-- A plain name has a dot, a derived one has none, and no database's name has one: no two collections share a view.
CREATE FUNCTION tidegate.view_name(database text, collection text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    RETURN CASE
        WHEN octet_length(database) + octet_length(collection) < 63 AND database !~ '[.]'
        THEN database || '.' || collection
        ELSE 'v_' || left(regexp_replace(database || '_' || collection, '[^A-Za-z0-9_]', '_', 'g'), 28) || '_'
            || md5(octet_length(database) || ':' || database || collection) END;
COMMENT ON FUNCTION tidegate.view_name(text, text) IS 'The name of a collection''s view in tidegate_views.';

CREATE FUNCTION tidegate.view_query(entry tidegate.collections) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    labels text[] := '{_id,doc}';
    -- Dates of before the year 1 and after 9999 stay as they are written.
    columns text := $id$CASE
        WHEN jsonb_typeof(doc -> '_id') <> 'object' THEN doc ->> '_id'
        WHEN jsonb_typeof(doc #> '{_id,$date}') = 'number'
            AND (doc #> '{_id,$date}')::numeric BETWEEN -62135596800000 AND 253402300799999
        THEN to_char(to_timestamp((doc #> '{_id,$date}')::float8 / 1000) AT TIME ZONE 'UTC',
                     'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        ELSE coalesce(doc #>> '{_id,$oid}', doc #>> '{_id,$uuid}', doc #>> '{_id,$numberDecimal}',
                      (doc -> '_id')::text) END AS _id$id$;
    field record;
    label text;
BEGIN
    FOR field IN
        WITH properties AS (
            SELECT k.name, min(k.place) AS place FROM tidegate.collection_rules r,
                json_object_keys(CASE WHEN json_typeof(r.schema -> 'properties') = 'object'
                                      THEN r.schema -> 'properties' END) WITH ORDINALITY AS k (name, place)
            WHERE r.database = entry.database AND r.collection = entry.collection AND k.name <> '_id'
            GROUP BY k.name
        ), promoted AS (
            SELECT e ->> 'path' AS path, e ->> 'type' AS type, e ->> 'column' AS column_name, o.place
            FROM jsonb_array_elements(entry.promoted) WITH ORDINALITY AS o (e, place)
        )
        SELECT coalesce(p.path, s.name) AS path, p.type,
               coalesce(quote_ident(p.column_name), format('doc -> %L', s.name)) AS expression
        FROM properties s FULL JOIN promoted p ON split_part(p.path, '.', 1) = s.name
        ORDER BY s.place NULLS LAST, s.name, p.place LIMIT 1000
    LOOP
        label := tidegate.safe_name(field.path, false);
        -- A field of two types has two columns, and a field may bear the name of one of ours.
        IF label = ANY (labels) THEN
            label := tidegate.safe_name(format('%s (%s)', field.path, coalesce(field.type, 'field')), false);
            CONTINUE WHEN label = ANY (labels);
        END IF;
        labels := labels || label;
        columns := columns || format(', %s AS %I', field.expression, label);
    END LOOP;
    RETURN format('SELECT %s, doc FROM %I.%I', columns, entry.schema_name, entry.table_name);
END
$$;
COMMENT ON FUNCTION tidegate.view_query(tidegate.collections) IS
    'The query of a collection''s view: _id as people write it, the schema''s fields in its order, other promoted fields, the document.';

CREATE FUNCTION tidegate.build_view(target integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry tidegate.collections;
    name text;
    query text;
BEGIN
    -- One at a time for each collection, and none while its columns change.
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    name := tidegate.view_name(entry.database, entry.collection);
    query := tidegate.view_query(entry);
    BEGIN
        EXECUTE format('CREATE OR REPLACE VIEW tidegate_views.%I AS %s', name, query);
    EXCEPTION WHEN invalid_table_definition THEN
        -- Its columns are others now.
        BEGIN
            EXECUTE format('DROP VIEW tidegate_views.%I', name);
            EXECUTE format('CREATE VIEW tidegate_views.%I AS %s', name, query);
        EXCEPTION WHEN dependent_objects_still_exist THEN
            RAISE NOTICE 'tidegate_views.% stays as it is, since other objects depend on it', quote_ident(name)
                USING HINT = 'Drop them, then: select tidegate.refresh_view(database, collection)';
            RETURN;
        END;
    END;
    EXECUTE format('COMMENT ON VIEW tidegate_views.%I IS %L', name,
        format('Documents of %s.%s for people; rows are changed in the table', entry.database, entry.collection));
    EXECUTE format('GRANT SELECT ON tidegate_views.%I TO tidegate_admin, tidegate_readonly', name);
END
$$;
COMMENT ON FUNCTION tidegate.build_view(integer) IS 'Makes or renews the view of a collection.';

CREATE FUNCTION tidegate.follow_promotion() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.build_view(NEW.id);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.follow_promotion() IS 'Trigger: a promoted field becomes a column of the view.';
CREATE TRIGGER follow_promotion AFTER UPDATE ON tidegate.collections FOR EACH ROW
    WHEN (OLD.promoted IS DISTINCT FROM NEW.promoted) EXECUTE FUNCTION tidegate.follow_promotion();

CREATE FUNCTION tidegate.follow_schemas() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer;
BEGIN
    -- In one order everywhere, since each holds a lock until the transaction ends.
    FOR target IN
        SELECT DISTINCT c.id FROM changed r JOIN tidegate.collections c USING (database, collection)
        WHERE r.schema IS NOT NULL OR TG_OP = 'UPDATE' ORDER BY c.id
    LOOP
        PERFORM tidegate.build_view(target);
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.follow_schemas() IS 'Trigger: a schema''s fields become columns of the view.';
CREATE TRIGGER follow_insert AFTER INSERT ON tidegate.collection_rules REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tidegate.follow_schemas();
CREATE TRIGGER follow_update AFTER UPDATE ON tidegate.collection_rules REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tidegate.follow_schemas();
CREATE TRIGGER follow_delete AFTER DELETE ON tidegate.collection_rules REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tidegate.follow_schemas();

CREATE FUNCTION tidegate.collection_id(database text, collection text) RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_id integer;
BEGIN
    PERFORM tidegate.check_name('database', database, 63);
    PERFORM tidegate.check_name('collection', collection, 255);
    IF NOT EXISTS (SELECT FROM tidegate.collections c WHERE c.database = collection_id.database) THEN
        PERFORM tidegate.refuse('database', format('%L has no collections', database));
    END IF;
    SELECT c.id INTO found_id FROM tidegate.collections c
        WHERE c.database = collection_id.database AND c.collection = collection_id.collection;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse_missing('collection', collection);
    END IF;
    RETURN found_id;
END
$$;
COMMENT ON FUNCTION tidegate.collection_id(text, text) IS 'The id of a collection. Error 22023 when there is none.';

CREATE FUNCTION tidegate.refresh_view(database text, collection text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.build_view(tidegate.collection_id(database, collection));
END
$$;
COMMENT ON FUNCTION tidegate.refresh_view(text, text) IS
    'Makes the view of a collection anew. It follows schemas and promoted fields by itself; this is for views that were dropped or held back.';

-- Collections -------------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION tidegate.ensure_collection(database text, collection text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_id integer;
    schema_text text := tidegate.safe_name(database, true);
    table_text text := tidegate.safe_name(collection, false);
BEGIN
    SELECT c.id INTO found_id FROM tidegate.collections c
        WHERE c.database = ensure_collection.database AND c.collection = ensure_collection.collection;
    IF FOUND THEN RETURN found_id; END IF;
    PERFORM tidegate.check_name('database', database, 255);
    PERFORM tidegate.check_name('collection', collection, 255);
    -- Two first inserts at the same moment: the second waits here, and finds the first one's table.
    PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.collections', 0));
    SELECT c.id INTO found_id FROM tidegate.collections c
        WHERE c.database = ensure_collection.database AND c.collection = ensure_collection.collection;
    IF FOUND THEN RETURN found_id; END IF;

    IF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = schema_text) THEN
        PERFORM tidegate.create_schema(schema_text);
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidegate_gateway, tidegate_admin, tidegate_readonly', schema_text);
        EXECUTE format('COMMENT ON SCHEMA %I IS %L', schema_text, 'Collections of the database ' || quote_literal(database));
    END IF;
    INSERT INTO tidegate.collections (database, collection, schema_name, table_name)
        VALUES (ensure_collection.database, ensure_collection.collection, schema_text, table_text)
        RETURNING id INTO found_id;
    EXECUTE format(
        'CREATE TABLE %1$I.%2$I ('
        '_id text COLLATE "C" PRIMARY KEY, '
        'doc jsonb COMPRESSION lz4 NOT NULL CHECK (jsonb_typeof(doc) = ''object'' AND doc ? ''_id''), '
        'shape integer NOT NULL DEFAULT 0'
        ') WITH (fillfactor = 88)', schema_text, table_text);
    EXECUTE format('COMMENT ON TABLE %1$I.%2$I IS %3$L', schema_text, table_text,
        'Documents of ' || database || '.' || collection);
    EXECUTE format(
        'CREATE TRIGGER tidegate_fill_id BEFORE INSERT ON %1$I.%2$I FOR EACH ROW '
        'WHEN (NEW._id IS NULL) EXECUTE FUNCTION tidegate.fill_id()', schema_text, table_text);
    EXECUTE format(
        'CREATE TRIGGER tidegate_log_change AFTER INSERT OR UPDATE OR DELETE ON %1$I.%2$I FOR EACH ROW '
        'EXECUTE FUNCTION tidegate.log_change(%3$L)', schema_text, table_text, found_id::text);
    EXECUTE format('ALTER TABLE %1$I.%2$I DISABLE TRIGGER tidegate_log_change', schema_text, table_text);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %1$I.%2$I TO tidegate_gateway, tidegate_admin',
        schema_text, table_text);
    EXECUTE format('GRANT SELECT ON %1$I.%2$I TO tidegate_readonly', schema_text, table_text);
    PERFORM tidegate.build_view(found_id);
    PERFORM pg_notify('tidegate_collections', found_id::text);
    RETURN found_id;
END
$$;

CREATE FUNCTION tidegate.create_collection(database text, collection text) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry tidegate.collections;
BEGIN
    PERFORM tidegate.check_namespace(database, collection);
    IF EXISTS (SELECT FROM tidegate.collections c
               WHERE c.database = create_collection.database AND c.collection = create_collection.collection) THEN
        PERFORM tidegate.refuse('collection', format('%L exists', collection));
    END IF;
    PERFORM tidegate.ensure_collection(database, collection);
    SELECT * INTO entry FROM tidegate.collections c
        WHERE c.database = create_collection.database AND c.collection = create_collection.collection;
    RETURN format('%I.%I', entry.schema_name, entry.table_name)::regclass;
END
$$;
COMMENT ON FUNCTION tidegate.create_collection(text, text) IS
    'Makes an empty collection and returns its table. Who may use it, set_rules says.';

CREATE FUNCTION tidegate.drop_collection(database text, collection text, with_documents boolean DEFAULT false)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer := tidegate.collection_id(database, collection);
    entry tidegate.collections;
    has_documents boolean;
BEGIN
    IF with_documents IS NULL THEN
        PERFORM tidegate.refuse('with_documents', 'must not be null');
    END IF;
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target FOR UPDATE;
    EXECUTE format('LOCK TABLE %I.%I IN ACCESS EXCLUSIVE MODE', entry.schema_name, entry.table_name);
    EXECUTE format('SELECT EXISTS (SELECT FROM %I.%I)', entry.schema_name, entry.table_name) INTO has_documents;
    IF has_documents AND NOT with_documents THEN
        PERFORM tidegate.refuse('collection', format('%L holds documents; with_documents => true drops them, too', collection));
    END IF;
    EXECUTE format('DROP VIEW IF EXISTS tidegate_views.%I', tidegate.view_name(entry.database, entry.collection));
    EXECUTE format('DROP TABLE %I.%I', entry.schema_name, entry.table_name);
    DELETE FROM tidegate.collections c WHERE c.id = target;
    PERFORM pg_notify('tidegate_collections', target::text);
END
$$;
COMMENT ON FUNCTION tidegate.drop_collection(text, text, boolean) IS
    'Drops a collection; one that holds documents only with with_documents => true. Rules and schemas of apps stay, and the next insert makes it anew.';

CREATE FUNCTION tidegate.list_collection_sizes()
    RETURNS TABLE (database text, collection text, documents bigint, size text, index_size text, bytes bigint)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT c.database, c.collection, greatest(r.reltuples, 0)::bigint,
                 pg_size_pretty(pg_table_size(r.oid)), pg_size_pretty(pg_indexes_size(r.oid)),
                 pg_total_relation_size(r.oid)
          FROM tidegate.collections c
          JOIN pg_class r ON r.oid = to_regclass(format('%I.%I', c.schema_name, c.table_name))
          ORDER BY 6 DESC $$;
COMMENT ON FUNCTION tidegate.list_collection_sizes() IS
    'What collections take on disk, largest first; documents is the estimate of the last ANALYZE.';

-- Promoted fields ---------------------------------------------------------------------------------------

-- An empty path has no parts, and none of them was refused.
DO $$
BEGIN
    EXECUTE replace(pg_get_functiondef('tidegate.promote_field(text,text,text,text)'::regprocedure),
        'IF column_type IS NULL THEN',
        'PERFORM tidegate.check_name(''path'', path, 500); IF column_type IS NULL THEN');
END
$$;

CREATE FUNCTION tidegate.demote_field(database text, collection text, path text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer := tidegate.collection_id(database, collection);
    entry tidegate.collections;
    columns text;
BEGIN
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target FOR UPDATE;
    SELECT string_agg(format('DROP COLUMN %I, DROP COLUMN %I', e ->> 'column', e ->> 'rest'), ', ') INTO columns
        FROM jsonb_array_elements(entry.promoted) e WHERE e ->> 'path' = demote_field.path;
    IF columns IS NULL THEN
        PERFORM tidegate.refuse('path', format('%s is not promoted', coalesce(quote_literal(path), 'null')));
    END IF;
    EXECUTE format('DROP VIEW IF EXISTS tidegate_views.%I', tidegate.view_name(entry.database, entry.collection));
    EXECUTE format('ALTER TABLE %I.%I %s', entry.schema_name, entry.table_name, columns);
    UPDATE tidegate.collections c SET promoted = coalesce(
            (SELECT jsonb_agg(o.e ORDER BY o.place)
             FROM jsonb_array_elements(c.promoted) WITH ORDINALITY AS o (e, place)
             WHERE o.e ->> 'path' <> demote_field.path), '[]')
        WHERE c.id = target;
    PERFORM pg_notify('tidegate_collections', target::text);
END
$$;
COMMENT ON FUNCTION tidegate.demote_field(text, text, text) IS
    'Takes the typed columns of a field away, with every index that they are in. Documents keep the field; requests that filter by it become slow.';

-- The paths that rules speak of, as Rules/FieldsMentioned.swift finds them; a test holds the two together.

CREATE FUNCTION tidegate.expansion_path(name text, base text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN CASE
        WHEN name ~ '^%%(root|prevRoot)[.]' THEN (string_to_array(name, '.'))[2:]
        -- An array joined to null would be the array.
        WHEN name ~ '^%%(this|prev)([.]|$)' AND base IS NOT NULL THEN base || (string_to_array(name, '.'))[2:] END;
COMMENT ON FUNCTION tidegate.expansion_path(text, text[]) IS
    'The field that an expansion names; base is the field that %%this stands for. Null for any other expansion.';

CREATE FUNCTION tidegate.operand_paths(value json, base text[]) RETURNS SETOF text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CASE json_typeof(value)
        WHEN 'string' THEN RETURN NEXT tidegate.expansion_path(value #>> '{}', base);
        WHEN 'array' THEN
            RETURN QUERY SELECT p FROM json_array_elements(value) e, tidegate.operand_paths(e, base) p;
        WHEN 'object' THEN
            RETURN QUERY SELECT p FROM json_each(value) e, tidegate.operand_paths(e.value, base) p;
        ELSE NULL;
    END CASE;
END
$$;
COMMENT ON FUNCTION tidegate.operand_paths(json, text[]) IS 'The fields that expansions in an operand name.';

CREATE FUNCTION tidegate.expression_paths(value json, base text[]) RETURNS SETOF text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    member record;
BEGIN
    IF value IS NULL OR json_typeof(value) <> 'object' THEN RETURN; END IF;
    FOR member IN SELECT * FROM json_each(value) LOOP
        IF member.key ~ '^(\$|%($|[^%]))' THEN
            IF substr(member.key, 2) IN ('and', 'or', 'nor') AND json_typeof(member.value) = 'array' THEN
                RETURN QUERY SELECT p FROM json_array_elements(member.value) e, tidegate.expression_paths(e, base) p;
            ELSIF substr(member.key, 2) = 'not' THEN
                RETURN QUERY SELECT tidegate.expression_paths(member.value, base);
            END IF;
        ELSE
            RETURN NEXT CASE WHEN member.key LIKE '\%\%%' THEN tidegate.expansion_path(member.key, base)
                             ELSE string_to_array(member.key, '.') END;
            RETURN QUERY SELECT tidegate.operand_paths(member.value, base);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.expression_paths(json, text[]) IS 'The fields that a rule expression speaks of.';

CREATE FUNCTION tidegate.permission_paths(name text, entry json, base text[]) RETURNS SETOF text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    here text[] := base || name;
BEGIN
    RETURN QUERY SELECT tidegate.expression_paths(entry -> 'read', here);
    RETURN QUERY SELECT tidegate.expression_paths(entry -> 'write', here);
    IF json_typeof(entry -> 'fields') = 'object' THEN
        RETURN QUERY SELECT p FROM json_each(entry -> 'fields') e, tidegate.permission_paths(e.key, e.value, here) p;
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.permission_paths(text, json, text[]) IS 'The fields that the permissions of a field speak of.';

CREATE FUNCTION tidegate.query_paths(value json) RETURNS SETOF text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    member record;
BEGIN
    IF json_typeof(value) = 'array' THEN
        RETURN QUERY SELECT p FROM json_array_elements(value) e, tidegate.query_paths(e) p;
    ELSIF json_typeof(value) = 'object' THEN
        FOR member IN SELECT * FROM json_each(value) LOOP
            IF member.key !~ '^[$%]' THEN
                RETURN NEXT string_to_array(member.key, '.');
            ELSIF substr(member.key, 2) IN ('and', 'or', 'nor') THEN
                RETURN QUERY SELECT tidegate.query_paths(member.value);
            END IF;
        END LOOP;
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.query_paths(json) IS 'The fields that the query of a filter names.';

CREATE FUNCTION tidegate.rule_paths(rules json) RETURNS SETOF text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    role json;
BEGIN
    FOR role IN SELECT * FROM json_array_elements(rules -> 'roles') LOOP
        RETURN QUERY SELECT tidegate.expression_paths(e, '{}')
            FROM unnest(ARRAY[role -> 'apply_when', role #> '{document_filters,read}', role #> '{document_filters,write}',
                              role -> 'read', role -> 'write', role -> 'insert', role -> 'delete', role -> 'search']) e;
        IF json_typeof(role -> 'fields') = 'object' THEN
            RETURN QUERY SELECT p FROM json_each(role -> 'fields') e, tidegate.permission_paths(e.key, e.value, '{}') p;
        END IF;
        -- Of which field %%this speaks there, nobody knows.
        RETURN QUERY SELECT tidegate.expression_paths(e, NULL)
            FROM unnest(ARRAY[role #> '{additional_fields,read}', role #> '{additional_fields,write}']) e;
    END LOOP;
    IF json_typeof(rules -> 'filters') = 'array' THEN
        RETURN QUERY SELECT p FROM json_array_elements(rules -> 'filters') f, tidegate.query_paths(f -> 'query') p;
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.rule_paths(json) IS
    'The fields that rules speak of, with nulls and repetitions; what PromotedFields.swift takes for columns.';

CREATE FUNCTION tidegate.schema_fields(node json, base text[]) RETURNS TABLE (path text[], type text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    property record;
    declared json;
    types text[];
BEGIN
    IF json_typeof(node -> 'properties') IS DISTINCT FROM 'object' OR cardinality(base) >= 8 THEN RETURN; END IF;
    FOR property IN SELECT * FROM json_each(node -> 'properties') LOOP
        CONTINUE WHEN json_typeof(property.value) <> 'object' OR property.key = '' OR property.key ~ '^\$|[.]';
        declared := coalesce(property.value -> 'bsonType', property.value -> 'type');
        SELECT array_agg(DISTINCT CASE t WHEN 'boolean' THEN 'bool' WHEN 'float' THEN 'double' ELSE t END) INTO types
            FROM json_array_elements_text(CASE json_typeof(declared) WHEN 'array' THEN declared
                                          WHEN 'string' THEN json_build_array(declared) END) t
            WHERE t <> 'null';
        IF types IS NULL OR types = '{object}' THEN
            RETURN QUERY SELECT f.path, f.type FROM tidegate.schema_fields(property.value, base || property.key) f;
        ELSIF cardinality(types) = 1 THEN
            path := base || property.key;
            type := CASE WHEN types[1] IN ('string', 'objectId', 'date', 'bool', 'uuid') THEN types[1]
                         WHEN types[1] IN ('int', 'long', 'double', 'decimal', 'number') THEN 'number' END;
            IF type IS NOT NULL THEN RETURN NEXT; END IF;
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.schema_fields(json, text[]) IS
    'The scalar fields of a schema with the types of their columns; never below an array.';

CREATE FUNCTION tidegate.promote_configured(app text, source text, database text, collection text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    configured record;
    entry tidegate.collections;
    field record;
    size bigint;
    -- A table that takes minutes to rewrite is not rewritten by the way.
    size_limit bigint := coalesce(
        pg_size_bytes(nullif(current_setting('tidegate.promote_up_to', true), '')), 256 * 1024 * 1024);
BEGIN
    SELECT coalesce(c.rules, d.default_rule) AS rules, c.schema, d.config ->> 'type' AS kind INTO configured
        FROM tidegate.collection_rules c JOIN tidegate.data_sources d ON d.app = c.app AND d.name = c.data_source
        WHERE c.app = promote_configured.app AND c.data_source = source
          AND c.database = promote_configured.database AND c.collection = promote_configured.collection;
    IF NOT FOUND OR configured.kind = 'datalake' THEN RETURN; END IF;
    PERFORM tidegate.ensure_collection(database, collection);
    SELECT * INTO entry FROM tidegate.collections c
        WHERE c.database = promote_configured.database AND c.collection = promote_configured.collection FOR UPDATE;
    FOR field IN
        WITH declared AS (
            SELECT f.path, f.type, row_number() OVER () AS place FROM tidegate.schema_fields(configured.schema, '{}') f
        ), mentioned AS (
            SELECT p AS path, min(place) AS place
            FROM tidegate.rule_paths(configured.rules) WITH ORDINALITY AS m (p, place)
            WHERE p NOT IN (SELECT d.path FROM declared d) GROUP BY p
        ), wanted AS (
            SELECT d.path, d.type, 1 AS part, d.place FROM declared d
            UNION ALL SELECT m.path, 'string', 2, m.place FROM mentioned m
        )
        SELECT array_to_string(w.path, '.') AS name, w.type FROM wanted w
        -- What promote_field takes.
        WHERE cardinality(w.path) BETWEEN 1 AND 8 AND w.path[1] <> '_id'
          AND octet_length(array_to_string(w.path, '.')) <= 500
          AND NOT EXISTS (SELECT FROM unnest(w.path) p WHERE p = '' OR p ~ '^\$|[.]|^[0-9]+$')
          AND NOT EXISTS (SELECT FROM jsonb_array_elements(entry.promoted) e
                          WHERE e ->> 'path' = array_to_string(w.path, '.') AND e ->> 'type' = w.type)
        ORDER BY w.part, w.place
    LOOP
        size := pg_table_size(format('%I.%I', entry.schema_name, entry.table_name)::regclass);
        IF size > size_limit THEN
            RAISE NOTICE '%.% holds %: its field % gets no column now', database, collection, pg_size_pretty(size), field.name
                USING HINT = format('When the table may be locked and rewritten: SELECT tidegate.promote_field(%L, %L, %L, %L);',
                                    database, collection, field.name, field.type);
            CONTINUE;
        ELSIF size > 1024 * 1024 THEN
            RAISE NOTICE '%.% is rewritten (%), for a column for its field %', database, collection, pg_size_pretty(size), field.name;
        END IF;
        PERFORM tidegate.promote_field(database, collection, field.name, field.type);
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.promote_configured(text, text, text, text) IS
    'Gives columns to the fields that a collection''s schema declares and its rules speak of, unless the table is larger than the setting tidegate.promote_up_to (256 MB).';

CREATE OR REPLACE FUNCTION tidegate.enable_change_log(
    database text, collection text, listener text DEFAULT 'administrator'
) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.check_name('listener', listener, 100);
    PERFORM tidegate.set_listener(database, collection, listener, true);
END
$$;

CREATE OR REPLACE FUNCTION tidegate.disable_change_log(
    database text, collection text, listener text DEFAULT 'administrator'
) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.collection_id(database, collection);
    PERFORM tidegate.check_name('listener', listener, 100);
    PERFORM tidegate.set_listener(database, collection, listener, false);
END
$$;

ALTER FUNCTION tidegate.trim_changes(interval, bigint) RENAME TO forget_changes;
COMMENT ON FUNCTION tidegate.forget_changes(interval, bigint) IS 'What trim_changes does.';
CREATE FUNCTION tidegate.trim_changes(keep interval, partition_rows bigint DEFAULT 1000000) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF keep IS NULL OR keep < interval '0' THEN
        PERFORM tidegate.refuse('keep', 'must be given, and not negative');
    ELSIF partition_rows IS NULL OR partition_rows < 1 THEN
        PERFORM tidegate.refuse('partition_rows', 'must be at least 1');
    END IF;
    RETURN tidegate.forget_changes(keep, partition_rows);
END
$$;
COMMENT ON FUNCTION tidegate.trim_changes(interval, bigint) IS
    'Forgets changes older than this, whole partitions where it can, makes the next partition, and returns how many rows went.';

-- A row that an administrator inserts may be filled without the right to every function that makes keys.
ALTER FUNCTION tidegate.fill_id() SECURITY DEFINER;

-- Indexes -----------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.create_index(
    database text, collection text, keys anycompatible, is_unique boolean DEFAULT false,
    is_sparse boolean DEFAULT false
) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer := tidegate.collection_id(database, collection);
    parsed json := tidegate.read_object('keys', keys::text);
    entry tidegate.collections;
    field record;
    promoted jsonb;
    columns text[] := '{}';
    conditions text[] := '{}';
    name text;
BEGIN
    IF is_unique IS NULL THEN PERFORM tidegate.refuse('is_unique', 'must not be null'); END IF;
    IF is_sparse IS NULL THEN PERFORM tidegate.refuse('is_sparse', 'must not be null'); END IF;
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target FOR UPDATE;
    name := entry.table_name;
    FOR field IN SELECT k.key, k.value #>> '{}' AS direction FROM json_each(parsed) k LOOP
        IF field.direction IS NULL OR field.direction NOT IN ('1', '-1') THEN
            PERFORM tidegate.refuse('keys.' || field.key, 'must be 1 or -1');
        END IF;
        name := format('%s_%s_%s', name, field.key, field.direction);
        IF field.key = '_id' THEN
            columns := columns || format('_id %s', CASE field.direction WHEN '1' THEN 'ASC' ELSE 'DESC' END);
            CONTINUE;
        END IF;
        SELECT o.e INTO promoted FROM jsonb_array_elements(entry.promoted) WITH ORDINALITY AS o (e, place)
            WHERE o.e ->> 'path' = field.key ORDER BY o.place LIMIT 1;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'keys.% is not promoted', field.key
                USING ERRCODE = 'invalid_parameter_value', COLUMN = 'keys', HINT = format(
                    'SELECT tidegate.promote_field(%L, %L, %L, ''string'');  -- or number, date, objectId, bool, uuid',
                    database, collection, field.key);
        END IF;
        columns := columns || format('%I %s', promoted ->> 'column',
            CASE field.direction WHEN '1' THEN 'ASC NULLS FIRST' ELSE 'DESC NULLS LAST' END);
        -- Values of other types lie beside the typed column; missing and null are one value, as in MongoDB.
        IF is_unique THEN columns := columns || format('(md5(%I::text))', promoted ->> 'rest'); END IF;
        conditions := conditions || format('%I IS NOT NULL OR %I IS NOT NULL', promoted ->> 'column', promoted ->> 'rest');
    END LOOP;
    IF columns = '{}' THEN PERFORM tidegate.refuse('keys', 'must name a field'); END IF;
    IF cardinality(columns) > 32 THEN PERFORM tidegate.refuse('keys', 'names too many fields'); END IF;
    name := CASE WHEN octet_length(name) <= 63 THEN name
                 ELSE left(regexp_replace(name, '[^A-Za-z0-9_]', '_', 'g'), 30) || '_' || md5(name) END;
    IF EXISTS (SELECT FROM pg_class r JOIN pg_index i ON i.indexrelid = r.oid
               WHERE r.relname = name AND i.indrelid = format('%I.%I', entry.schema_name, entry.table_name)::regclass) THEN
        PERFORM tidegate.refuse('keys', format('have an index already: %s', name));
    END IF;
    -- The names of a schema's indexes and tables are one set.
    IF to_regclass(format('%I.%I', entry.schema_name, name)) IS NOT NULL THEN
        name := left(regexp_replace(name, '[^A-Za-z0-9_]', '_', 'g'), 30) || '_' || md5(entry.table_name || ':' || name);
    END IF;
    BEGIN
        EXECUTE format('CREATE %s INDEX %I ON %I.%I (%s) %s %s', CASE WHEN is_unique THEN 'UNIQUE' ELSE '' END, name,
            entry.schema_name, entry.table_name, array_to_string(columns, ', '),
            CASE WHEN is_unique THEN 'NULLS NOT DISTINCT' ELSE '' END,
            CASE WHEN is_sparse AND conditions <> '{}'
                 THEN format('WHERE %s', array_to_string(conditions, ' OR ')) ELSE '' END);
    EXCEPTION WHEN unique_violation THEN
        PERFORM tidegate.refuse('keys', 'hold the same values in several documents already');
    END;
    EXECUTE format('COMMENT ON INDEX %I.%I IS %L', entry.schema_name, name, 'tidegate.create_index: ' || parsed::text);
    RETURN name;
END
$$;
COMMENT ON FUNCTION tidegate.create_index(text, text, anycompatible, boolean, boolean) IS
    'Makes an index on promoted fields, {"owner": 1, "due": -1}, and returns its name. A unique one refuses equal values with MongoDB''s error 11000: missing and null are one value (with is_sparse => true they are left out), an array is one value. Writers wait while it is made. The values of one entry together may take 2,600 bytes.';

CREATE FUNCTION tidegate.drop_index(database text, collection text, name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer := tidegate.collection_id(database, collection);
    entry tidegate.collections;
    found_index oid;
BEGIN
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target;
    SELECT i.indexrelid INTO found_index FROM pg_index i JOIN pg_class r ON r.oid = i.indexrelid
        WHERE i.indrelid = format('%I.%I', entry.schema_name, entry.table_name)::regclass AND r.relname = drop_index.name;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse_missing('name', name);
    ELSIF coalesce(obj_description(found_index, 'pg_class'), '') NOT LIKE 'tidegate.create_index:%' THEN
        PERFORM tidegate.refuse('name', format('%L belongs to the key or to a promoted field; demote_field removes the latter', name));
    END IF;
    EXECUTE format('DROP INDEX %I.%I', entry.schema_name, name);
END
$$;
COMMENT ON FUNCTION tidegate.drop_index(text, text, text) IS 'Drops an index that create_index made.';

CREATE FUNCTION tidegate.list_indexes(database text, collection text)
    RETURNS TABLE (name text, definition text, is_unique boolean, made_by_hand boolean, size text, scans bigint)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT tidegate.collection_id($1, $2);
          SELECT r.relname, pg_get_indexdef(r.oid), i.indisunique,
                 coalesce(obj_description(r.oid, 'pg_class'), '') LIKE 'tidegate.create_index:%',
                 pg_size_pretty(pg_relation_size(r.oid)), coalesce(pg_stat_get_numscans(r.oid), 0)
          FROM tidegate.collections c
          JOIN pg_index i ON i.indrelid = to_regclass(format('%I.%I', c.schema_name, c.table_name))
          JOIN pg_class r ON r.oid = i.indexrelid
          WHERE c.database = $1 AND c.collection = $2 ORDER BY r.relname $$;
COMMENT ON FUNCTION tidegate.list_indexes(text, text) IS
    'The indexes of a collection: those of its promoted fields and those that create_index made; scans tells which ones serve.';

-- Apps --------------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.rename_app(app text, name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    PERFORM tidegate.check_name('name', name, 64);
    IF name !~ '^[A-Za-z0-9_-]+$' THEN
        PERFORM tidegate.refuse('name', 'may hold only letters, digits, - and _');
    ELSIF EXISTS (SELECT FROM tidegate.apps a WHERE a.name = rename_app.name AND a.id <> target) THEN
        PERFORM tidegate.refuse('name', format('%L is taken', name));
    END IF;
    UPDATE tidegate.apps a SET name = rename_app.name WHERE a.id = target;
END
$$;
COMMENT ON FUNCTION tidegate.rename_app(text, text) IS
    'Changes an app''s name, by which an import finds it. URLs keep the client app id.';

CREATE FUNCTION tidegate.set_client_app_id(app text, client_app_id text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    IF client_app_id IS NULL OR client_app_id !~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$' THEN
        PERFORM tidegate.refuse('client_app_id', 'must be 1 to 128 letters, digits, - and _, beginning with a letter or digit');
    ELSIF EXISTS (SELECT FROM tidegate.apps a
                  WHERE a.client_app_id = set_client_app_id.client_app_id AND a.id <> target) THEN
        PERFORM tidegate.refuse('client_app_id', format('%L is taken', client_app_id));
    END IF;
    UPDATE tidegate.apps a SET client_app_id = set_client_app_id.client_app_id WHERE a.id = target;
END
$$;
COMMENT ON FUNCTION tidegate.set_client_app_id(text, text) IS
    'Changes the app id in every URL at once, for clients that were built with another one.';

CREATE FUNCTION tidegate.reload_app(app text) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    made bigint;
BEGIN
    UPDATE tidegate.apps a SET version = a.version + 1 WHERE a.id = target RETURNING a.version INTO made;
    RETURN made;
END
$$;
COMMENT ON FUNCTION tidegate.reload_app(text) IS 'Has every gateway read an app''s configuration again, and returns its new version.';

CREATE FUNCTION tidegate.list_environments(app text)
    RETURNS TABLE (environment text, in_force boolean, "values" json)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT tidegate.app_id($1);
          SELECT t.tag, t.tag = a.environment, e.config -> 'values'
          FROM tidegate.apps a
          CROSS JOIN unnest('{"",development,testing,qa,production}'::text[]) WITH ORDINALITY AS t (tag, place)
          LEFT JOIN tidegate.environments e ON e.app = a.id AND e.tag = t.tag
          WHERE a.id = tidegate.app_id($1) AND (e.tag IS NOT NULL OR t.tag = a.environment) ORDER BY t.place $$;
COMMENT ON FUNCTION tidegate.list_environments(text) IS 'The environments of an app with their values; the empty one is that of apps without.';

CREATE FUNCTION tidegate.remove_environment_values(app text, environment text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    DELETE FROM tidegate.environments e WHERE e.app = target AND e.tag = environment;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('environment', format('%s has no values', coalesce(quote_literal(environment), 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_environment_values(text, text) IS 'Removes the values of one environment, of which the empty one is one.';

CREATE FUNCTION tidegate.list_settings(app text) RETURNS TABLE (name text, config json)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT tidegate.app_id($1);
          SELECT s.name, s.config FROM tidegate.settings s WHERE s.app = tidegate.app_id($1)
          UNION ALL SELECT 'allowed_request_origins', coalesce(
                a.config -> 'allowed_request_origins', a.config #> '{security,allowed_request_origins}', '[]')
              FROM tidegate.apps a WHERE a.id = tidegate.app_id($1)
          ORDER BY 1 $$;
COMMENT ON FUNCTION tidegate.list_settings(text) IS
    'Data API (data_api_config), sync, custom user data and allowed request origins of an app. What has no row has its default: the Data API is on, sync is off.';

CREATE FUNCTION tidegate.clear_config_errors(app text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    removed integer;
BEGIN
    DELETE FROM tidegate.config_errors e WHERE e.app = target;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
COMMENT ON FUNCTION tidegate.clear_config_errors(text) IS 'Forgets why versions of an app were refused, and returns how many entries went.';

-- Data sources, rules, schemas --------------------------------------------------------------------------

CREATE FUNCTION tidegate.set_data_source(app text, source text, config anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := tidegate.read_object('config', config::text);
BEGIN
    PERFORM tidegate.check_source(target, source);
    PERFORM tidegate.check_keys('config', parsed, ARRAY['clusterName', 'readPreference', 'wireProtocolEnabled',
                                                        'dataLakeName', 'uri', 'sync', 'flexible_sync']);
    UPDATE tidegate.data_sources d
        SET config = (jsonb_build_object('name', d.name) || d.config::jsonb || jsonb_build_object('config', parsed::jsonb))::json
        WHERE d.app = target AND d.name = source;
END
$$;
COMMENT ON FUNCTION tidegate.set_data_source(text, text, anycompatible) IS
    'Replaces the settings of a data source, as "config" in its config.json. All data sources are this database, whatever they say.';

CREATE FUNCTION tidegate.remove_data_source(app text, source text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    dependent text;
BEGIN
    PERFORM tidegate.check_source(target, source);
    SELECT u.who INTO dependent FROM (
        SELECT 'trigger ' || t.name AS who, t.config #>> '{config,service_name}' AS used FROM tidegate.triggers t
            WHERE t.app = target
        UNION ALL SELECT CASE s.name WHEN 'sync' THEN 'sync' ELSE 'custom user data' END,
            coalesce(s.config ->> 'service_name', s.config ->> 'mongo_service_name')
            FROM tidegate.settings s WHERE s.app = target) u
        WHERE u.used = source LIMIT 1;
    IF FOUND THEN
        PERFORM tidegate.refuse('source', format('%L is used by %s', source, dependent));
    END IF;
    DELETE FROM tidegate.data_sources d WHERE d.app = target AND d.name = source;
END
$$;
COMMENT ON FUNCTION tidegate.remove_data_source(text, text) IS
    'Removes a data source with its rules, schemas and relationships. Collections and their documents stay.';

CREATE OR REPLACE FUNCTION tidegate.set_rules(
    app text, source text, database text, collection text, rules anycompatible
) RETURNS void
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
    PERFORM tidegate.promote_configured(target, source, database, collection);
END
$$;
COMMENT ON FUNCTION tidegate.set_rules(text, text, text, text, anycompatible) IS
    'Replaces the rules of a collection: {"roles": [...], "filters": [...]} as json, jsonb or text; null removes them, so that the default rules of the data source apply. Fields that they speak of are promoted, unless the table is large: then a notice says how.';

CREATE OR REPLACE FUNCTION tidegate.set_default_rules(app text, source text, rules anycompatible) RETURNS void
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
    PERFORM tidegate.promote_configured(target, source, c.database, c.collection)
        FROM (SELECT r.database, r.collection FROM tidegate.collection_rules r
              WHERE r.app = target AND r.data_source = source AND r.rules IS NULL
              ORDER BY r.database, r.collection) c;
END
$$;

CREATE OR REPLACE FUNCTION tidegate.set_schema(
    app text, source text, database text, collection text, schema anycompatible
) RETURNS void
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
        PERFORM tidegate.check_each('schema', parsed, ARRAY['bsonType', 'type'], ARRAY['string', 'array']);
        PERFORM tidegate.check_types('schema', parsed, 'properties', ARRAY['object']);
        PERFORM tidegate.check_types('schema', parsed, 'required', ARRAY['array']);
    END IF;
    INSERT INTO tidegate.collection_rules AS c (app, data_source, database, collection, schema)
        VALUES (target, source, set_schema.database, set_schema.collection, parsed)
        ON CONFLICT ON CONSTRAINT collection_rules_pkey DO UPDATE SET schema = excluded.schema;
    PERFORM tidegate.ensure_collection(database, collection);
    PERFORM tidegate.promote_configured(target, source, database, collection);
END
$$;
COMMENT ON FUNCTION tidegate.set_schema(text, text, text, text, anycompatible) IS
    'Replaces the schema of a collection, as json, jsonb or text; null removes it. Use json or text where the order of properties matters. Its scalar fields are promoted, unless the table is large: then a notice says how. The view of the collection follows.';

CREATE FUNCTION tidegate.remove_rules(app text, source text, database text, collection text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    PERFORM tidegate.check_source(target, source);
    PERFORM tidegate.check_namespace(database, collection);
    DELETE FROM tidegate.collection_rules c WHERE c.app = target AND c.data_source = source
        AND c.database = remove_rules.database AND c.collection = remove_rules.collection;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('collection', format('%L has no rules, schema or relationships of its own', collection));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_rules(text, text, text, text) IS
    'Removes rules, schema and relationships of a collection together; the default rules of the data source apply then. Documents stay.';

-- Functions, endpoints, triggers, sync ------------------------------------------------------------------

CREATE FUNCTION tidegate.check_function(field text, app text, name text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF name IS NULL OR NOT EXISTS (
        SELECT FROM tidegate.functions f WHERE f.app = check_function.app AND f.name = check_function.name
    ) THEN
        PERFORM tidegate.refuse(field, format('%s is no function of the app', coalesce(quote_literal(name), 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.check_function(text, text, text) IS 'Error 22023 when an app (internal id) has no such function.';

CREATE FUNCTION tidegate.set_function(app text, name text, source text, config anycompatible DEFAULT '{}'::text)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := tidegate.read_object('config', config::text);
BEGIN
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
    INSERT INTO tidegate.functions AS f (app, name, config, source)
        VALUES (target, set_function.name,
                (jsonb_build_object('name', set_function.name, 'private', false) || parsed::jsonb)::json,
                set_function.source)
        ON CONFLICT ON CONSTRAINT functions_pkey DO UPDATE SET config = excluded.config, source = excluded.source;
END
$$;
COMMENT ON FUNCTION tidegate.set_function(text, text, text, anycompatible) IS
    'Sets a function: its JavaScript source and its settings, {"private": true} and so on as in functions/config.json.';

CREATE FUNCTION tidegate.function_user(target text, name text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    RETURN (
        SELECT u.who FROM (
            SELECT format('the endpoint %s %s', e.http_method, e.route) AS who, ARRAY[e.config ->> 'function_name'] AS used
                FROM tidegate.endpoints e WHERE e.app = target
            UNION ALL SELECT 'the trigger ' || t.name, ARRAY[t.config ->> 'function_name',
                    t.config #>> '{event_processors,FUNCTION,config,function_name}']
                FROM tidegate.triggers t WHERE t.app = target
            UNION ALL SELECT 'the provider ' || p.name, ARRAY[p.config #>> '{config,authFunctionName}',
                    p.config #>> '{config,confirmationFunctionName}', p.config #>> '{config,resetFunctionName}']
                FROM tidegate.providers p WHERE p.app = target
            UNION ALL SELECT 'custom user data', ARRAY[s.config ->> 'on_user_creation_function_name']
                FROM tidegate.settings s WHERE s.app = target AND s.name = 'custom_user_data'
        ) u WHERE name = ANY (u.used) LIMIT 1);
COMMENT ON FUNCTION tidegate.function_user(text, text) IS 'What calls a function of an app (internal id); null when nothing does.';

CREATE FUNCTION tidegate.remove_function(app text, name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    dependent text := tidegate.function_user(target, name);
BEGIN
    PERFORM tidegate.check_function('name', target, name);
    IF dependent IS NOT NULL THEN
        PERFORM tidegate.refuse('name', format('%L is called by %s', name, dependent));
    END IF;
    DELETE FROM tidegate.functions f WHERE f.app = target AND f.name = remove_function.name;
END
$$;
COMMENT ON FUNCTION tidegate.remove_function(text, text) IS 'Removes a function that no endpoint, trigger or provider calls.';

CREATE FUNCTION tidegate.set_endpoint(app text, route text, http_method text, config anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := tidegate.read_object('config', config::text);
    method text;
BEGIN
    PERFORM tidegate.check_name('route', route, 512);
    IF route !~ '^/' THEN
        PERFORM tidegate.refuse('route', 'must begin with /');
    ELSIF http_method IS NULL OR http_method NOT IN ('GET', 'POST', 'PUT', 'PATCH', 'DELETE', '*') THEN
        PERFORM tidegate.refuse('http_method', 'must be GET, POST, PUT, PATCH, DELETE or *');
    END IF;
    PERFORM tidegate.check_keys('config', parsed, ARRAY[
        'route', 'http_method', 'function_name', 'function_id', 'validation_method', 'verification_method', 'secret_name',
        'secret_id', 'respond_result', 'return_type', 'fetch_custom_user_data', 'create_user_on_auth', 'disabled',
        'last_modified']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['respond_result', 'fetch_custom_user_data', 'create_user_on_auth',
                                                        'disabled'], ARRAY['boolean']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['route', 'http_method', 'function_name', 'validation_method',
        'verification_method', 'secret_name', 'return_type'], ARRAY['string']);
    IF coalesce(parsed ->> 'route', route) <> route THEN
        PERFORM tidegate.refuse('config.route', 'must be the endpoint''s route');
    ELSIF coalesce(parsed ->> 'http_method', http_method) <> http_method THEN
        PERFORM tidegate.refuse('config.http_method', 'must be the endpoint''s method');
    ELSIF coalesce(parsed ->> 'return_type', 'JSON') NOT IN ('JSON', 'EJSON') THEN
        PERFORM tidegate.refuse('config.return_type', 'must be JSON or EJSON');
    END IF;
    PERFORM tidegate.check_function('config.function_name', target, parsed ->> 'function_name');
    method := coalesce(parsed ->> 'validation_method', parsed ->> 'verification_method', 'NO_VALIDATION');
    IF method NOT IN ('NO_VALIDATION', 'SECRET_AS_QUERY_PARAM', 'VERIFY_PAYLOAD') THEN
        PERFORM tidegate.refuse('config.validation_method', 'must be NO_VALIDATION, SECRET_AS_QUERY_PARAM or VERIFY_PAYLOAD');
    ELSIF method <> 'NO_VALIDATION' AND NOT EXISTS (
        SELECT FROM tidegate.secrets s WHERE s.app = target AND s.name = parsed ->> 'secret_name'
    ) THEN
        PERFORM tidegate.refuse_missing('config.secret_name', parsed ->> 'secret_name');
    END IF;
    INSERT INTO tidegate.endpoints AS e (app, route, http_method, config)
        VALUES (target, set_endpoint.route, set_endpoint.http_method,
                (jsonb_build_object('route', set_endpoint.route, 'http_method', set_endpoint.http_method)
                 || parsed::jsonb)::json)
        ON CONFLICT ON CONSTRAINT endpoints_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_endpoint(text, text, text, anycompatible) IS
    'Leads a route and a method (GET, POST, PUT, PATCH, DELETE or *) to a function: {"function_name": "f", "respond_result": true, ...} as in http_endpoints/config.json.';

CREATE FUNCTION tidegate.remove_endpoint(app text, route text, http_method text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    IF route IS NULL OR NOT EXISTS (
        SELECT FROM tidegate.endpoints e WHERE e.app = target AND e.route = remove_endpoint.route
    ) THEN
        PERFORM tidegate.refuse_missing('route', route);
    END IF;
    DELETE FROM tidegate.endpoints e
        WHERE e.app = target AND e.route = remove_endpoint.route AND e.http_method = remove_endpoint.http_method;
    IF NOT FOUND THEN PERFORM tidegate.refuse_missing('http_method', http_method); END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_endpoint(text, text, text) IS 'Removes a custom endpoint; its function stays.';

CREATE FUNCTION tidegate.set_trigger(app text, name text, config anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := tidegate.read_object('config', config::text);
    details json;
    called text;
BEGIN
    IF name IS NULL OR name !~ '^[A-Za-z0-9_-]{1,64}$' THEN
        PERFORM tidegate.refuse('name', 'must be 1 to 64 letters, digits, - and _');
    END IF;
    PERFORM tidegate.check_keys('config', parsed, ARRAY['id', 'name', 'type', 'disabled', 'config', 'event_processors',
                                                        'function_name', 'function_id', 'error_handler']);
    PERFORM tidegate.check_types('config', parsed, 'disabled', ARRAY['boolean']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['name', 'type', 'function_name'], ARRAY['string']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['config', 'event_processors'], ARRAY['object']);
    IF coalesce(parsed ->> 'name', name) <> name THEN
        PERFORM tidegate.refuse('config.name', 'must be the trigger''s name');
    ELSIF coalesce(parsed ->> 'type', '') NOT IN ('DATABASE', 'AUTHENTICATION', 'SCHEDULED') THEN
        PERFORM tidegate.refuse('config.type', 'must be DATABASE, AUTHENTICATION or SCHEDULED');
    END IF;
    details := coalesce(parsed -> 'config', '{}');
    IF parsed ->> 'type' = 'SCHEDULED' THEN
        PERFORM tidegate.check_types('config.config', details, 'schedule', ARRAY['string']);
        IF coalesce(details ->> 'schedule', '') = '' THEN
            PERFORM tidegate.refuse('config.config.schedule', 'is required');
        END IF;
    ELSIF parsed ->> 'type' = 'DATABASE' THEN
        PERFORM tidegate.check_types('config.config', details, 'operation_types', ARRAY['array']);
        IF details ->> 'service_name' IS NOT NULL AND NOT EXISTS (
            SELECT FROM tidegate.data_sources d WHERE d.app = target AND d.name = details ->> 'service_name'
        ) THEN
            PERFORM tidegate.refuse_missing('config.config.service_name', details ->> 'service_name');
        END IF;
    END IF;
    called := coalesce(parsed #>> '{event_processors,FUNCTION,config,function_name}', parsed ->> 'function_name');
    PERFORM tidegate.check_function(CASE WHEN parsed -> 'event_processors' IS NULL THEN 'config.function_name'
        ELSE 'config.event_processors.FUNCTION.config.function_name' END, target, called);
    INSERT INTO tidegate.triggers AS t (app, name, config)
        VALUES (target, set_trigger.name, (jsonb_build_object('name', set_trigger.name) || parsed::jsonb)::json)
        ON CONFLICT ON CONSTRAINT triggers_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_trigger(text, text, anycompatible) IS
    'Sets a trigger that calls a function: {"type": "DATABASE", "config": {...}, "event_processors": {...}} as in triggers/<name>.json.';

CREATE FUNCTION tidegate.remove_trigger(app text, name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    DELETE FROM tidegate.triggers t WHERE t.app = target AND t.name = remove_trigger.name;
    IF NOT FOUND THEN PERFORM tidegate.refuse_missing('name', name); END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_trigger(text, text) IS 'Removes a trigger; its function stays.';

CREATE FUNCTION tidegate.list_triggers(app text) RETURNS TABLE (name text, type text, disabled boolean, config json)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT tidegate.app_id($1);
          SELECT t.name, t.config ->> 'type', coalesce(t.config ->> 'disabled', 'false') = 'true', t.config
          FROM tidegate.triggers t WHERE t.app = tidegate.app_id($1) ORDER BY t.name $$;
COMMENT ON FUNCTION tidegate.list_triggers(text) IS 'The triggers of an app.';

CREATE FUNCTION tidegate.set_sync(app text, config anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    parsed json := CASE WHEN config IS NOT NULL THEN tidegate.read_object('config', config::text) END;
BEGIN
    IF parsed IS NULL THEN
        DELETE FROM tidegate.settings s WHERE s.app = target AND s.name = 'sync';
        RETURN;
    END IF;
    PERFORM tidegate.check_keys('config', parsed, ARRAY[
        'type', 'state', 'development_mode_enabled', 'service_name', 'database_name', 'client_max_offline_days',
        'is_recovery_mode_disabled', 'queryable_fields_names', 'indexed_queryable_fields_names',
        'collection_queryable_fields_names', 'last_disabled', 'asymmetric_tables', 'permissions', 'partition']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['development_mode_enabled', 'is_recovery_mode_disabled'], ARRAY['boolean']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['type', 'service_name', 'database_name'], ARRAY['string']);
    PERFORM tidegate.check_each('config', parsed, ARRAY['queryable_fields_names', 'indexed_queryable_fields_names',
                                                        'asymmetric_tables'], ARRAY['array', 'null']);
    PERFORM tidegate.check_types('config', parsed, 'collection_queryable_fields_names', ARRAY['object', 'null']);
    PERFORM tidegate.check_types('config', parsed, 'client_max_offline_days', ARRAY['number']);
    IF coalesce(parsed ->> 'type', 'flexible') NOT IN ('flexible', 'partition') THEN
        PERFORM tidegate.refuse('config.type', 'must be flexible or partition');
    ELSIF coalesce(parsed ->> 'state', '') NOT IN ('enabled', 'disabled', 'true', 'false', '') THEN
        PERFORM tidegate.refuse('config.state', 'must be enabled or disabled');
    ELSIF json_typeof(parsed -> 'indexed_queryable_fields_names') = 'array'
        AND json_array_length(parsed -> 'indexed_queryable_fields_names') > 1 THEN
        PERFORM tidegate.refuse('config.indexed_queryable_fields_names', 'may name one field');
    ELSIF parsed ->> 'service_name' IS NOT NULL AND NOT EXISTS (
        SELECT FROM tidegate.data_sources d WHERE d.app = target AND d.name = parsed ->> 'service_name'
    ) THEN
        PERFORM tidegate.refuse_missing('config.service_name', parsed ->> 'service_name');
    END IF;
    INSERT INTO tidegate.settings AS s (app, name, config) VALUES (target, 'sync', parsed)
        ON CONFLICT ON CONSTRAINT settings_pkey DO UPDATE SET config = excluded.config;
END
$$;
COMMENT ON FUNCTION tidegate.set_sync(text, anycompatible) IS
    'Sets up sync: {"type": "flexible", "state": "enabled", "service_name": ..., "queryable_fields_names": [...]} as in sync/config.json; null removes it.';

-- Ways to log in, Data API, values, secrets -------------------------------------------------------------

CREATE FUNCTION tidegate.remove_provider(app text, name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    DELETE FROM tidegate.providers p WHERE p.app = target AND p.name = remove_provider.name;
    IF NOT FOUND THEN PERFORM tidegate.refuse_missing('name', name); END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_provider(text, text) IS
    'Removes a way to log in. Its users stay; to refuse logins for a while, set_provider with {"disabled": true}.';

ALTER FUNCTION tidegate.set_data_api(text, anycompatible) RENAME TO put_data_api;
COMMENT ON FUNCTION tidegate.put_data_api(text, anycompatible) IS 'What set_data_api does with settings; null removes the row.';
CREATE FUNCTION tidegate.set_data_api(app text, config anycompatible) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- An app without the row has the Data API on.
    PERFORM tidegate.put_data_api(app, coalesce(config::text, '{"disabled": true}'));
END
$$;
COMMENT ON FUNCTION tidegate.set_data_api(text, anycompatible) IS
    'Sets up the Data API: {"disabled": false, "versions": ["v1"], "return_type": "JSON", ...} as in data_api_config.json; null turns it off.';

CREATE FUNCTION tidegate.remove_custom_user_data(app text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    DELETE FROM tidegate.settings s WHERE s.app = target AND s.name = 'custom_user_data';
    IF NOT FOUND THEN PERFORM tidegate.refuse('app', 'has no custom user data'); END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_custom_user_data(text) IS 'Ends custom user data; the documents stay.';

CREATE FUNCTION tidegate.remove_value(app text, name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    DELETE FROM tidegate.app_values v WHERE v.app = target AND v.name = remove_value.name;
    IF NOT FOUND THEN PERFORM tidegate.refuse_missing('name', name); END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_value(text, text) IS 'Removes a value. Rules that read it let nobody in.';

CREATE OR REPLACE FUNCTION tidegate.set_secret(app text, name text, value text) RETURNS void
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
    ELSIF value = '' THEN
        PERFORM tidegate.refuse('value', 'must not be empty');
    END IF;
    INSERT INTO tidegate.secrets AS s (app, name, value) VALUES (target, set_secret.name, set_secret.value)
        ON CONFLICT ON CONSTRAINT secrets_pkey DO UPDATE SET value = excluded.value, changed_at = now()
        WHERE s.value <> excluded.value;
END
$$;
COMMENT ON FUNCTION tidegate.set_secret(text, text, text) IS
    'Sets a secret; null removes it. The statement holds it: mind the server''s statement log and psql''s history.';

CREATE FUNCTION tidegate.remove_secret(app text, name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    dependent text;
BEGIN
    SELECT v.name INTO dependent FROM tidegate.app_values v WHERE v.app = target
        AND v.config ->> 'from_secret' = 'true' AND v.config ->> 'value' = remove_secret.name LIMIT 1;
    IF FOUND THEN
        PERFORM tidegate.refuse('name', format('%L is what the value %s holds', name, dependent));
    END IF;
    DELETE FROM tidegate.secrets s WHERE s.app = target AND s.name = remove_secret.name;
    IF NOT FOUND THEN PERFORM tidegate.refuse_missing('name', name); END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_secret(text, text) IS 'Removes a secret that no value is made of.';

COMMENT ON FUNCTION tidegate.set_environment_values(text, text, anycompatible) IS
    'Replaces the values of one environment (development, testing, qa, production, or the empty one, of apps without); values is an object, as json, jsonb or text.';
COMMENT ON FUNCTION tidegate.create_app(text, text, text) IS
    'Creates an app with the data source mongodb-atlas and nothing else, and returns its internal id. Without client_app_id one is made: the name and five letters. The environment may be empty.';

-- Users -------------------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION tidegate.user_id(target text, id text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known text;
BEGIN
    SELECT u.id INTO known FROM tidegate.users u WHERE u.app = target AND u.id = user_id.id;
    IF known IS NULL THEN
        SELECT p.user_id INTO known FROM tidegate.password_hashes p WHERE p.app = target AND p.username = user_id.id;
        IF FOUND AND known IS NULL THEN
            PERFORM tidegate.refuse('id', format('%L has registered, but never logged in', id));
        END IF;
    END IF;
    IF known IS NULL THEN
        PERFORM tidegate.refuse('id', format('%s is no user of the app', coalesce(quote_literal(id), 'null')));
    END IF;
    RETURN known;
END
$$;
COMMENT ON FUNCTION tidegate.user_id(text, text) IS
    'The id of a user of an app (internal id), given by id or by the email that the user logs in with. Error 22023 when there is none.';

COMMENT ON FUNCTION tidegate.disable_user(text, text) IS
    'Ends all tokens of a user, given by id or email, at once and refuses further logins.';
COMMENT ON FUNCTION tidegate.enable_user(text, text) IS
    'Lets a disabled user, given by id or email, log in again; its old tokens stay void.';
COMMENT ON FUNCTION tidegate.delete_user(text, text) IS
    'Deletes a user, given by id or email, with its identities, credentials, API keys and sessions; its documents stay.';
COMMENT ON FUNCTION tidegate.revoke_sessions(text, text) IS
    'Ends the refresh tokens of a user, given by id or email, and returns how many; access tokens already out last up to 30 minutes more.';

CREATE FUNCTION tidegate.list_identities(app text, id text DEFAULT NULL)
    RETURNS TABLE (user_id text, provider_type text, identity_id text, data json, created_at timestamptz)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    chosen text := CASE WHEN list_identities.id IS NOT NULL THEN tidegate.user_id(target, list_identities.id) END;
BEGIN
    RETURN QUERY SELECT i.user_id, i.provider_type, i.id, i.data, i.created_at FROM tidegate.identities i
        WHERE i.app = target AND (chosen IS NULL OR i.user_id = chosen) ORDER BY i.created_at, i.id;
END
$$;
COMMENT ON FUNCTION tidegate.list_identities(text, text) IS
    'The ways in which a user, given by id or email, logs in; null for all users of the app.';

CREATE FUNCTION tidegate.list_sessions(app text, id text DEFAULT NULL)
    RETURNS TABLE (session_id text, user_id text, state text, provider_type text, device_id text, device json,
                   created_at timestamptz, refreshed_at timestamptz, expires_at timestamptz)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
    chosen text := CASE WHEN list_sessions.id IS NOT NULL THEN tidegate.user_id(target, list_sessions.id) END;
BEGIN
    RETURN QUERY SELECT s.id, s.user_id,
            CASE WHEN s.revoked_at IS NOT NULL THEN 'revoked' WHEN s.expires_at <= now() THEN 'expired' ELSE 'open' END,
            s.provider_type, s.device_id, s.device, s.created_at, s.refreshed_at, s.expires_at
        FROM tidegate.sessions s WHERE s.app = target AND (chosen IS NULL OR s.user_id = chosen)
        ORDER BY s.created_at DESC, s.id;
END
$$;
COMMENT ON FUNCTION tidegate.list_sessions(text, text) IS
    'The logins of a user, given by id or email, newest first; null for all users of the app. Expired ones are kept for a day.';

CREATE FUNCTION tidegate.revoke_session(app text, session_id text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    UPDATE tidegate.sessions s SET revoked_at = now()
        WHERE s.app = target AND s.id = revoke_session.session_id AND s.revoked_at IS NULL AND s.expires_at > now();
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('session_id', format('%s is no open session of the app', coalesce(quote_literal(session_id), 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.revoke_session(text, text) IS
    'Ends one refresh token; access tokens already out last up to 30 minutes more.';

CREATE FUNCTION tidegate.list_registrations(app text)
    RETURNS TABLE (email text, is_confirmed boolean, created_at timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT tidegate.app_id($1);
          SELECT p.username, p.confirmed_at IS NOT NULL, p.created_at FROM tidegate.password_hashes p
          WHERE p.app = tidegate.app_id($1) AND p.user_id IS NULL ORDER BY p.created_at, p.username $$;
COMMENT ON FUNCTION tidegate.list_registrations(text) IS 'Who registered with an email and a password and never logged in; a user is made by the first login.';

CREATE FUNCTION tidegate.remove_registration(app text, email text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    DELETE FROM tidegate.password_hashes p WHERE p.app = target AND p.username = email AND p.user_id IS NULL;
    IF NOT FOUND THEN
        PERFORM tidegate.refuse('email', format('%s is no registration without a login', coalesce(quote_literal(email), 'null')));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.remove_registration(text, text) IS 'Removes the registration of somebody who never logged in; delete_user is for the others.';

CREATE FUNCTION tidegate.list_signing_keys(app text)
    RETURNS TABLE (id text, algorithm text, state text, valid_from timestamptz, retired_at timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT tidegate.app_id($1);
          SELECT k.id, k.algorithm,
                 CASE WHEN k.retired_at <= now() THEN 'retired'
                      WHEN k.valid_from = max(k.valid_from) OVER () THEN 'signs' ELSE 'believed' END,
                 k.valid_from, k.retired_at
          FROM tidegate.signing_keys k WHERE k.app = tidegate.app_id($1) ORDER BY k.valid_from DESC $$;
COMMENT ON FUNCTION tidegate.list_signing_keys(text) IS 'The keys that an app''s tokens are signed with, newest first; never the keys themselves.';

-- Help --------------------------------------------------------------------------------------------------

CREATE VIEW tidegate.help AS
    SELECT p.proname AS function, pg_get_function_arguments(p.oid) AS arguments,
           obj_description(p.oid, 'pg_proc') AS purpose
    FROM pg_proc p
    WHERE p.pronamespace = 'tidegate'::regnamespace AND p.prorettype <> 'trigger'::regtype
      AND has_function_privilege(p.oid, 'EXECUTE')
    ORDER BY 1;
ALTER VIEW tidegate.help OWNER TO tidegate_owner;
COMMENT ON VIEW tidegate.help IS 'The functions that you may call, with their arguments and what they do.';

-- Privileges --------------------------------------------------------------------------------------------
-- All of them, of this migration and those before: what is not named here, nobody but the owner has.

REVOKE ALL ON ALL TABLES IN SCHEMA tidegate FROM PUBLIC, tidegate_gateway, tidegate_admin, tidegate_readonly;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA tidegate FROM PUBLIC, tidegate_gateway, tidegate_admin, tidegate_readonly;
REVOKE ALL ON SCHEMA tidegate, tidegate_views FROM PUBLIC;
GRANT SELECT ON tidegate.help TO tidegate_admin, tidegate_readonly;

DO $$
BEGIN
    -- The migrator's own, and not there when these files are run by hand.
    IF to_regclass('tidegate.migrations') IS NOT NULL THEN
        GRANT SELECT ON tidegate.migrations TO tidegate_admin, tidegate_readonly;
    END IF;
END
$$;

-- What everybody may read: configuration, users, collections; no secret, hash or key.
GRANT SELECT ON tidegate.apps, tidegate.environments, tidegate.app_values, tidegate.data_sources,
    tidegate.collection_rules, tidegate.functions, tidegate.endpoints, tidegate.providers, tidegate.settings,
    tidegate.triggers, tidegate.config_errors, tidegate.users, tidegate.identities, tidegate.sessions,
    tidegate.collections, tidegate.shapes, tidegate.shape_steps, tidegate.changes
    TO tidegate_gateway, tidegate_admin, tidegate_readonly;
GRANT SELECT ON tidegate.other_files TO tidegate_admin, tidegate_readonly;
GRANT SELECT (app, name, changed_at) ON tidegate.secrets TO tidegate_admin, tidegate_readonly;
GRANT SELECT (id, app, kind, user_id, name, disabled, created_at, last_used_at) ON tidegate.api_keys
    TO tidegate_admin, tidegate_readonly;
GRANT SELECT (app, username, user_id, identity_id, confirmed_at, created_at) ON tidegate.password_hashes
    TO tidegate_admin, tidegate_readonly;
GRANT SELECT (id, app, algorithm, valid_from, retired_at) ON tidegate.signing_keys
    TO tidegate_admin, tidegate_readonly;

-- What the process writes without a function.
GRANT SELECT (app, username) ON tidegate.password_hashes TO tidegate_gateway;
GRANT INSERT (id, app, data, last_login_at), UPDATE (data, last_login_at), DELETE ON tidegate.users TO tidegate_gateway;
GRANT INSERT (app, provider_type, id, provider_id, user_id, data), UPDATE (data) ON tidegate.identities TO tidegate_gateway;
GRANT INSERT (id, app, user_id, provider_type, identity_id, device_id, device, expires_at),
    UPDATE (refreshed_at, revoked_at), DELETE ON tidegate.sessions TO tidegate_gateway;
GRANT INSERT, UPDATE, DELETE ON tidegate.config_errors TO tidegate_gateway;

-- What an import writes: `tidegate import` may run as an administrator.
GRANT INSERT, UPDATE, DELETE ON tidegate.apps, tidegate.environments, tidegate.app_values, tidegate.data_sources,
    tidegate.collection_rules, tidegate.functions, tidegate.endpoints, tidegate.providers, tidegate.settings,
    tidegate.triggers, tidegate.other_files TO tidegate_admin;

DO $$
DECLARE
    object record;
    for_gateway text[] := ARRAY[
        'app_id', 'refuse', 'ensure_collection', 'ensure_shape', 'learn_step', 'next_shape', 'number_kind', 'number_json',
        'combine_numbers', 'decimal_value', 'chosen', 'number_key', 'exact_double', 'typed_key', 'sort_key',
        'read_password', 'register_password', 'replace_password_hash', 'claim_registration', 'use_api_key',
        'read_secrets', 'read_signing_keys'];
    for_admin text[] := ARRAY[
        'app_id', 'refuse', 'new_id', 'new_client_app_id', 'typed_key', 'read_secrets', 'ensure_collection',
        'create_app', 'drop_app', 'rename_app', 'set_client_app_id', 'reload_app', 'set_environment',
        'set_environment_values', 'remove_environment_values', 'set_allowed_request_origins', 'clear_config_errors',
        'add_data_source', 'set_data_source', 'remove_data_source', 'set_rules', 'set_default_rules', 'set_schema',
        'set_relationships', 'remove_rules', 'set_function', 'remove_function', 'set_endpoint', 'remove_endpoint',
        'set_trigger', 'remove_trigger', 'set_sync', 'set_provider', 'remove_provider', 'set_data_api',
        'set_custom_user_data', 'remove_custom_user_data', 'set_value', 'set_value_from_secret', 'remove_value',
        'set_secret', 'remove_secret', 'create_user', 'set_password', 'disable_user', 'enable_user', 'delete_user',
        'revoke_sessions', 'revoke_session', 'remove_registration', 'create_api_key', 'disable_api_key',
        'enable_api_key', 'revoke_api_key', 'rotate_signing_key', 'create_collection', 'drop_collection',
        'promote_field', 'demote_field', 'create_index', 'drop_index', 'refresh_view', 'enable_change_log',
        'disable_change_log', 'trim_changes'];
    for_readers text[] := ARRAY['app_id', 'refuse', 'typed_key'];
BEGIN
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short, p.prorettype = 'trigger'::regtype AS is_trigger
        FROM pg_proc p WHERE p.pronamespace = 'tidegate'::regnamespace
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC, tidegate_gateway, tidegate_admin, tidegate_readonly', object.name);
        -- create_schema is its migrator's.
        IF object.short <> 'create_schema' THEN
            EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        END IF;
        IF object.short = ANY (for_gateway) THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        END IF;
        IF object.short = ANY (for_admin) OR object.short LIKE 'list\_%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
        IF object.short = ANY (for_readers) OR object.short LIKE 'list\_%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_readonly', object.name);
        END IF;
        -- What a person calls does the rest in the owner's name.
        IF object.short = ANY (for_admin) OR object.short LIKE 'list\_%' THEN
            EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = pg_catalog, pg_temp', object.name);
        END IF;
    END LOOP;
    FOR object IN SELECT c.id FROM tidegate.collections c ORDER BY c.id LOOP
        PERFORM tidegate.build_view(object.id);
    END LOOP;
END
$$;
