-- Indexes on fields whose values have several types: in MongoDB's order across types, by a text for each value.

CREATE FUNCTION tidegate.order_key(doc jsonb, path text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    value jsonb := doc #> path;
    key text;
BEGIN
    FOR step IN 1..cardinality(path) - 1 LOOP
        IF jsonb_typeof(doc #> path[1:step]) = 'array' THEN RETURN NULL; END IF;
    END LOOP;
    -- An array counts with its smallest element in one direction and with its largest in the other.
    IF jsonb_typeof(value) = 'array' AND value <> '[]' THEN RETURN NULL; END IF;
    IF jsonb_typeof(value) = 'object' AND NOT coalesce(CASE
            WHEN (SELECT count(*) FROM jsonb_object_keys(value)) <> 1 THEN false
            WHEN jsonb_typeof(value -> '$date') = 'number'
            THEN (value -> '$date')::numeric BETWEEN -9223372036854775808 AND 9223372036854775807
            WHEN value ->> '$oid' ~ '^[0-9a-f]{24}$' THEN true
            WHEN value ->> '$uuid' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN true
            WHEN value ->> '$numberDouble' IN ('Infinity', '-Infinity', '-0.0', 'NaN') THEN true
            ELSE scale(trim_scale(tidegate.decimal_value(value ->> '$numberDecimal'))) = 0
        END, false) THEN
        RETURN NULL;
    END IF;
    key := tidegate.sort_key(doc, path, false);
    -- What an entry of an index can hold.
    RETURN CASE WHEN octet_length(key) <= 2000 THEN key END;
END
$$;
COMMENT ON FUNCTION tidegate.order_key(jsonb, text[]) IS
    'A text that sorts (collation C) as MongoDB sorts the value at a path, in both directions; null for null, arrays, documents, long texts and whatever else only the gateway can order, that of a missing value for an unlikely document or path.';

CREATE FUNCTION tidegate.create_mixed_index(database text, collection text, keys text, options jsonb) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer := tidegate.collection_id(database, collection);
    entry tidegate.collections;
    field record;
    base text;
    name text;
    others text;
    expression text;
    made integer;
BEGIN
    PERFORM tidegate.refuse_mapped(database, collection);
    PERFORM tidegate.check_keys('options', options::json, ARRAY['name', 'types', 'concurrently']);
    PERFORM tidegate.check_types('options', options::json, 'concurrently', ARRAY['boolean']);
    PERFORM tidegate.check_types('options', options::json, 'name', ARRAY['string']);
    IF options ? 'name' AND (octet_length(options ->> 'name') NOT BETWEEN 1 AND 63) THEN
        PERFORM tidegate.refuse('options.name', 'must have 1 to 63 bytes');
    END IF;
    IF (SELECT count(*) FROM tidegate.index_keys(keys, false)) <> 1 THEN
        PERFORM tidegate.refuse('options.types', 'has mixed for an index on one field only');
    END IF;
    SELECT * INTO field FROM tidegate.index_keys(keys, false);
    IF options -> 'types' <> jsonb_build_object(field.path, 'mixed') THEN
        PERFORM tidegate.refuse('options.types', 'must name the field of the index, and no other');
    END IF;
    IF field.path = '_id' OR field.path LIKE '\_id.%' OR cardinality(string_to_array(field.path, '.')) > 8
        OR octet_length(field.path) > 500
        OR EXISTS (SELECT FROM unnest(string_to_array(field.path, '.')) p WHERE p = '' OR p LIKE '$%' OR p ~ '^[0-9]+$') THEN
        PERFORM tidegate.refuse('keys.' || field.path,
            'cannot be indexed: a path has at most 8 names that are neither empty nor numbers nor begin with $, and is not _id');
    END IF;
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target FOR UPDATE;
    base := coalesce(options ->> 'name', format('%s_%s_%s', entry.table_name, field.path, field.kind));
    IF EXISTS (SELECT FROM tidegate.indexes i WHERE i.collection_id = target AND i.name = base) THEN
        PERFORM tidegate.refuse(CASE WHEN options ? 'name' THEN 'options.name' ELSE 'keys' END,
            format('have an index already: %s', base));
    END IF;
    name := tidegate.free_index_name(base, entry.schema_name, entry.table_name);
    others := tidegate.free_index_name(format('%s_others', name), entry.schema_name, entry.table_name);
    -- The query compiler writes the very same expression.
    expression := format('tidegate.order_key(doc, %L::text[])', string_to_array(field.path, '.'));
    INSERT INTO tidegate.indexes (collection_id, name, keys, options, relations, definitions, fields, state)
        VALUES (target, name, json_build_object(field.path, field.kind::integer), options, ARRAY[name, others],
                ARRAY[format('CREATE INDEX %I ON %I.%I ((%s) COLLATE "C")', name, entry.schema_name, entry.table_name, expression),
                      format('CREATE INDEX %I ON %I.%I (_id) WHERE %s IS NULL', others, entry.schema_name, entry.table_name, expression)],
                jsonb_build_array(jsonb_build_object('order', field.path)), 'waiting')
        RETURNING id INTO made;
    IF coalesce((options ->> 'concurrently')::boolean,
            pg_table_size(format('%I.%I', entry.schema_name, entry.table_name)::regclass) > tidegate.rewrite_limit()) THEN
        PERFORM pg_notify('tidegate_indexes', made::text);
        RAISE NOTICE '% waits to be built', name
            USING HINT = 'A gateway whose login is a member of tidegate_owner builds it, or: tidegate build-indexes';
        RETURN name;
    END IF;
    FOR field IN SELECT d FROM tidegate.indexes i, unnest(i.definitions) d WHERE i.id = made LOOP
        EXECUTE field.d;
    END LOOP;
    PERFORM tidegate.finish_index(made, NULL);
    RETURN name;
END
$$;
COMMENT ON FUNCTION tidegate.create_mixed_index(text, text, text, jsonb) IS
    'Makes an index that orders the values of a field across types, for create_index.';

CREATE OR REPLACE FUNCTION tidegate.create_index(
    app text, database text, collection text, keys anycompatible, options jsonb DEFAULT '{}'
) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parsed json;
BEGIN
    BEGIN
        parsed := keys::text::json;
    EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
        parsed := NULL;
    END;
    IF json_typeof(parsed) = 'object' THEN
        parsed := (SELECT json_agg(json_build_object(k.key, k.value)) FROM json_each(parsed) k);
    END IF;
    -- Two administrators at the same moment would choose one name for two indexes of a schema.
    PERFORM pg_advisory_xact_lock(hashtextextended('tidegate.create_index', 0));
    -- Whatever else is wrong with the keys is found by the other one.
    IF options IS NOT NULL AND json_typeof(parsed) = 'array' THEN
        IF NOT EXISTS (SELECT FROM json_array_elements(parsed) e WHERE json_typeof(e) <> 'object')
            AND EXISTS (SELECT FROM json_array_elements(parsed) e, json_each(e) k WHERE k.value #>> '{}' = 'text') THEN
            PERFORM tidegate.app_id(app);
            RETURN tidegate.create_text_index(database, collection, parsed, options);
        END IF;
    END IF;
    IF jsonb_path_exists(options, '$.types.* ? (@ == "mixed")') THEN
        PERFORM tidegate.app_id(app);
        PERFORM tidegate.index_keys(keys::text, pg_typeof(keys) = 'jsonb'::regtype);
        RETURN tidegate.create_mixed_index(database, collection, keys::text, options);
    END IF;
    RETURN tidegate.create_ordered_index(app, database, collection, keys, options);
END
$$;
DO $$
BEGIN
    EXECUTE format('COMMENT ON FUNCTION tidegate.create_index(text, text, text, anycompatible, jsonb) IS %L',
        replace(obj_description('tidegate.create_index(text, text, text, anycompatible, jsonb)'::regprocedure),
            'types ({"due": "date"}; else the schema or the documents say)',
            'types ({"due": "date"}; else the schema or the documents say; {"n": "mixed"} makes an index on one field that orders values of several types)'));
END
$$;

-- Privileges --------------------------------------------------------------------------------------------

ALTER FUNCTION tidegate.order_key(jsonb, text[]) OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.create_mixed_index(text, text, text, jsonb) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.order_key(jsonb, text[]), tidegate.create_mixed_index(text, text, text, jsonb)
    FROM PUBLIC, tidegate_admin;
-- Whoever writes documents makes the entries of their indexes.
GRANT EXECUTE ON FUNCTION tidegate.order_key(jsonb, text[]) TO tidegate_admin, tidegate_gateway;
