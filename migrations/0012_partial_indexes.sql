-- Partial indexes: $or, $in and $type in partialFilterExpression.
-- Source: reference/storage-study.md §8, "Which index for which request".

CREATE FUNCTION tidegate.partial_type(place text, steps text, types json) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry text;
    tests text[] := '{}';
BEGIN
    FOR entry IN SELECT e #>> '{}' FROM json_array_elements(
        CASE json_typeof(types) WHEN 'array' THEN types ELSE json_build_array(types) END) AS list (e)
    LOOP
        -- By name or number, as the stored form tells them apart.
        tests := tests || CASE
            WHEN entry IN ('string', '2') THEN '@.type() == "string"'
            WHEN entry = 'number' THEN '@.type() == "number" || exists(@."$numberDecimal") || exists(@."$numberDouble")'
            WHEN entry IN ('bool', '8') THEN '@.type() == "boolean"'
            WHEN entry IN ('null', '10') THEN '@.type() == "null"'
            WHEN entry IN ('date', '9') THEN 'exists(@."$date")'
            WHEN entry IN ('objectId', '7') THEN 'exists(@."$oid")' END;
        IF tests[array_upper(tests, 1)] IS NULL THEN
            PERFORM tidegate.refuse(place || '.$type', 'must be of string, number, bool, null, date and objectId');
        END IF;
    END LOOP;
    IF tests = '{}' THEN PERFORM tidegate.refuse(place || '.$type', 'must name a type'); END IF;
    -- In the lax mode of paths [*] opens an array, and takes anything else as it is.
    RETURN format('doc @? %L::jsonpath', steps || '[*] ? (' || array_to_string(tests, ' || ') || ')');
END
$$;
COMMENT ON FUNCTION tidegate.partial_type(text, text, json) IS 'The condition of a partial index on the type of a field, as SQL.';

CREATE OR REPLACE FUNCTION tidegate.partial_test(target integer, path text, operator text, value json, is_exact boolean) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place text := 'options.partialFilterExpression.' || path;
    steps text;
    sign text := CASE operator WHEN '$eq' THEN '=' WHEN '$gt' THEN '>' WHEN '$gte' THEN '>='
                               WHEN '$lt' THEN '<' WHEN '$lte' THEN '<=' END;
    kind text := tidegate.literal_type(value);
    milliseconds numeric;
    form record;
    typed text;
    stored text;
    inner_path text;
BEGIN
    SELECT '$' || string_agg('.' || to_json(p)::text, '' ORDER BY n) INTO steps
        FROM unnest(string_to_array(path, '.')) WITH ORDINALITY AS u (p, n);
    IF path ~ '^_id($|[.])' OR path ~ '^\$' OR path = '' THEN
        PERFORM tidegate.refuse(place, 'cannot be a condition of an index');
    ELSIF operator = '$exists' THEN
        IF value::text <> 'true' THEN PERFORM tidegate.refuse(place || '.$exists', 'must be true'); END IF;
        RETURN format('doc @? %L::jsonpath', steps);
    ELSIF operator = '$type' THEN
        RETURN tidegate.partial_type(place, steps, value);
    ELSIF operator = '$in' THEN
        IF json_typeof(value) <> 'array' OR json_array_length(value) = 0 THEN
            PERFORM tidegate.refuse(place || '.$in', 'must be a list of values');
        END IF;
        RETURN (SELECT '(' || string_agg(tidegate.partial_test(target, path, '$eq', member, is_exact), ' OR ' ORDER BY n) || ')'
                FROM json_array_elements(value) WITH ORDINALITY AS list (member, n));
    ELSIF sign IS NULL THEN
        PERFORM tidegate.refuse(place || '.' || operator, 'is not supported; known are $eq, $exists, $gt, $gte, $in, $lt, $lte, $type, $and, $or');
    ELSIF kind IS NULL THEN
        PERFORM tidegate.refuse(place, 'must be compared with a string, number, boolean, date or ObjectId');
    ELSIF kind IN ('bool', 'objectId') AND sign <> '=' THEN
        PERFORM tidegate.refuse(place || '.' || operator, format('does not go with a value of type %s', kind));
    ELSIF octet_length(value::text) > 1000 THEN
        PERFORM tidegate.refuse(place, 'must not be compared with a value of more than 1000 bytes');
    END IF;
    SELECT * INTO form FROM tidegate.field_form(target, path, kind, kind);
    IF kind = 'date' THEN
        milliseconds := CASE WHEN json_typeof(value -> '$date') = 'number' THEN (value ->> '$date')::numeric
                             ELSE extract(epoch FROM (value ->> '$date')::timestamptz) * 1000 END;
        stored := json_build_object('$date', trunc(milliseconds))::text;
        typed := format('to_timestamp(%L::bigint::double precision / 1000)', trunc(milliseconds));
        inner_path := format('%s."$date" %s %s', steps, CASE sign WHEN '=' THEN '==' ELSE sign END, trunc(milliseconds));
    ELSE
        stored := value::text;
        typed := CASE kind WHEN 'number' THEN format('%L::numeric', value #>> '{}') WHEN 'bool' THEN value::text
                           WHEN 'objectId' THEN format('%L::text', value ->> '$oid') ELSE format('%L::text', value #>> '{}') END;
        inner_path := format('%s %s %s', steps, CASE sign WHEN '=' THEN '==' ELSE sign END, value);
    END IF;
    -- As the query compiler writes it, so that PostgreSQL sees that a request implies it.
    IF sign = '=' AND kind <> 'number' THEN
        RETURN format('(%s = %s OR %s @> %L::jsonb%s)', form.typed, typed, form.rest, format('[%s]', stored),
            CASE kind WHEN 'string' THEN format(' OR %s @> %L::jsonb', form.rest,
                json_build_array(json_build_object('$symbol', value #>> '{}'))) ELSE '' END);
    END IF;
    -- One that is not unique may hold more than it must.
    RETURN format(CASE WHEN is_exact THEN '(%s %s %s OR (%s IS NOT NULL AND doc @@ %L::jsonpath))'
                       ELSE '(%s %s %s OR %s IS NOT NULL)' END, form.typed, sign, typed, form.rest, inner_path);
END
$$;

CREATE OR REPLACE FUNCTION tidegate.partial_condition(target integer, condition json, is_exact boolean) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry record;
    member record;
    parts text[] := '{}';
BEGIN
    IF json_typeof(condition) IS DISTINCT FROM 'object' THEN
        PERFORM tidegate.refuse('options.partialFilterExpression', 'must be an object');
    END IF;
    FOR entry IN SELECT * FROM json_each(condition) LOOP
        IF entry.key = '$and' AND json_typeof(entry.value) = 'array' THEN
            FOR member IN SELECT value FROM json_array_elements(entry.value) LOOP
                parts := parts || tidegate.partial_condition(target, member.value, is_exact);
            END LOOP;
        ELSIF entry.key = '$or' AND json_typeof(entry.value) = 'array' AND json_array_length(entry.value) > 0 THEN
            parts := parts || (SELECT '(' || string_agg('(' || tidegate.partial_condition(target, arm, is_exact) || ')', ' OR ' ORDER BY n) || ')'
                FROM json_array_elements(entry.value) WITH ORDINALITY AS list (arm, n));
        ELSIF entry.key ~ '^\$' THEN
            PERFORM tidegate.refuse('options.partialFilterExpression.' || entry.key, 'is not supported');
        ELSIF json_typeof(entry.value) = 'object' AND tidegate.literal_type(entry.value) IS NULL THEN
            FOR member IN SELECT * FROM json_each(entry.value) LOOP
                parts := parts || tidegate.partial_test(target, entry.key, member.key, member.value, is_exact);
            END LOOP;
        ELSE
            parts := parts || tidegate.partial_test(target, entry.key, '$eq', entry.value, is_exact);
        END IF;
    END LOOP;
    IF parts = '{}' THEN PERFORM tidegate.refuse('options.partialFilterExpression', 'must not be empty'); END IF;
    RETURN array_to_string(parts, ' AND ');
END
$$;

COMMENT ON FUNCTION tidegate.create_index(text, text, text, anycompatible, jsonb) IS
    'Makes an index on fields, {"owner": 1, "due": -1}, and returns its name; {"$**": 1} is one for equality on any field. Options: unique, sparse, partialFilterExpression ($eq, $exists, $gt, $gte, $in, $lt, $lte, $type, $and, $or), expireAfterSeconds (gateways remove documents whose date is older), name, types ({"due": "date"}; else the schema or the documents say), concurrently. Fields get typed columns, unless the table is large (tidegate.promote_up_to): then the index waits until it can be built beside writers, and list_indexes tells its state. A unique one refuses equal values with MongoDB''s error 11000: missing and null are one value unless it is sparse, an array is one value; of its partial numbers, decimals and infinities are left out. The values of one entry together may take 2,600 bytes.';

ALTER FUNCTION tidegate.partial_type(text, text, json) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.partial_type(text, text, json) FROM PUBLIC;
