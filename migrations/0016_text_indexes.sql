-- Text search: $text on a text index, {"title": "text"}.
--
-- A text becomes words at MongoDB's delimiters, without the stop words of its language, each as its stem in lower case
-- without diacritics; stop words and stems are those of PostgreSQL's dictionaries. One GIN index on the words of each
-- document finds candidates; what else a search asks (phrases, what must not be there, case, diacritics) is asked of
-- the texts themselves. Scores are computed as MongoDB computes them.
-- Source: reference/mql.md §3.1, $text.

-- Words -------------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.text_dictionary(language text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    RETURN CASE lower(language)
        WHEN 'none' THEN 'simple'
        WHEN 'danish' THEN 'danish_stem' WHEN 'da' THEN 'danish_stem'
        WHEN 'dutch' THEN 'dutch_stem' WHEN 'nl' THEN 'dutch_stem'
        WHEN 'english' THEN 'english_stem' WHEN 'en' THEN 'english_stem'
        WHEN 'finnish' THEN 'finnish_stem' WHEN 'fi' THEN 'finnish_stem'
        WHEN 'french' THEN 'french_stem' WHEN 'fr' THEN 'french_stem'
        WHEN 'german' THEN 'german_stem' WHEN 'de' THEN 'german_stem'
        WHEN 'hungarian' THEN 'hungarian_stem' WHEN 'hu' THEN 'hungarian_stem'
        WHEN 'italian' THEN 'italian_stem' WHEN 'it' THEN 'italian_stem'
        WHEN 'norwegian' THEN 'norwegian_stem' WHEN 'nb' THEN 'norwegian_stem'
        WHEN 'portuguese' THEN 'portuguese_stem' WHEN 'pt' THEN 'portuguese_stem'
        WHEN 'romanian' THEN 'romanian_stem' WHEN 'ro' THEN 'romanian_stem'
        WHEN 'russian' THEN 'russian_stem' WHEN 'ru' THEN 'russian_stem'
        WHEN 'spanish' THEN 'spanish_stem' WHEN 'es' THEN 'spanish_stem'
        WHEN 'swedish' THEN 'swedish_stem' WHEN 'sv' THEN 'swedish_stem'
        WHEN 'turkish' THEN 'turkish_stem' WHEN 'tr' THEN 'turkish_stem' END;
COMMENT ON FUNCTION tidegate.text_dictionary(text) IS 'PostgreSQL''s dictionary for one of MongoDB''s languages; null for others.';

CREATE FUNCTION tidegate.text_folded(value text, is_case_sensitive boolean, is_diacritic_sensitive boolean) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT is_case_sensitive THEN value := lower(value); END IF;
    IF NOT is_diacritic_sensitive AND octet_length(value) > length(value) THEN
        value := normalize(regexp_replace(normalize(value, NFD),
            '[\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]', '', 'g'), NFC);
    END IF;
    RETURN value;
END
$$;
COMMENT ON FUNCTION tidegate.text_folded(text, boolean, boolean) IS 'A text as it is compared: in lower case and without diacritics, unless these count.';

CREATE FUNCTION tidegate.text_terms(value text, dictionary text, is_case_sensitive boolean, is_diacritic_sensitive boolean)
    RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- White space, dashes, quotation marks, terminal punctuation, and what Unicode keeps for the syntax of patterns.
    delimiters text := '[^\u0027\u005f0-9A-Za-z\u0080-\U0010ffff\s]|\s|[\u0080-\u00a9\u00ab-\u00ae\u00b0\u00b1\u00b6\u00bb\u00bf\u00d7\u00f7'
        || '\u037e\u0387\u0589\u058a\u05be\u05c3\u060c\u061b\u061f\u06d4\u0700-\u070a\u070c\u0964\u0965\u0e5a\u0e5b\u104a\u104b'
        || '\u1361-\u1368\u1400\u166e\u1680\u16eb-\u16ed\u17d4-\u17d6\u17da\u1802-\u1806\u1808\u1809'
        || '\u2000-\u203e\u2041-\u2053\u2055-\u205f\u2190-\u245f\u2500-\u2775\u2794-\u2bff\u2e00-\u2e7f'
        || '\u3000-\u3003\u3008-\u3020\u3030\u30a0\u30fb\ufd3e\ufd3f\ufe31\ufe32\ufe41-\ufe46\ufe50-\ufe58\ufe63'
        || '\uff01\uff02\uff07\uff0c-\uff0e\uff1a\uff1b\uff1f\uff61-\uff65]';
    word text;
    lowered text;
    lexemes text[];
    stem text;
    same integer;
    terms text[] := '{}';
BEGIN
    -- In English an apostrophe is a part of its word.
    IF dictionary <> 'english_stem' THEN delimiters := delimiters || '|\u0027'; END IF;
    FOREACH word IN ARRAY regexp_split_to_array(value, delimiters) LOOP
        CONTINUE WHEN word = '';
        word := left(word, 500);
        lowered := lower(word);
        lexemes := ts_lexize(dictionary::regdictionary, lowered);
        CONTINUE WHEN lexemes = '{}';
        stem := coalesce(lexemes[1], lowered);
        IF is_case_sensitive AND lowered <> word THEN
            -- The dictionary gives lower case; as far as the stem is the word's beginning, the word's letters stand.
            same := length(stem);
            WHILE same > 0 AND left(stem, same) <> left(lowered, same) LOOP same := same - 1; END LOOP;
            stem := left(word, same) || substr(stem, same + 1);
        END IF;
        terms := terms || tidegate.text_folded(stem, true, is_diacritic_sensitive);
    END LOOP;
    RETURN terms;
END
$$;
COMMENT ON FUNCTION tidegate.text_terms(text, text, boolean, boolean) IS
    'The words of a text in their order, as stems, without stop words.';

-- Documents ---------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.text_strings(value jsonb) RETURNS SETOF text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    member record;
BEGIN
    CASE jsonb_typeof(value)
    WHEN 'string' THEN RETURN NEXT value #>> '{}';
    WHEN 'array' THEN
        FOR member IN SELECT e FROM jsonb_array_elements(value) e LOOP
            RETURN QUERY SELECT tidegate.text_strings(member.e);
        END LOOP;
    WHEN 'object' THEN
        FOR member IN SELECT * FROM jsonb_each(value) LOOP
            -- {"$oid": …} and its like are no documents.
            EXIT WHEN left(member.key, 1) = '$';
            RETURN QUERY SELECT tidegate.text_strings(member.value);
        END LOOP;
    ELSE NULL;
    END CASE;
END
$$;
COMMENT ON FUNCTION tidegate.text_strings(jsonb) IS 'All texts in a value, however deep.';

CREATE FUNCTION tidegate.text_values(doc jsonb, spec jsonb) RETURNS TABLE (weight double precision, value text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    field record;
BEGIN
    FOR field IN SELECT * FROM jsonb_to_recordset(spec -> 'fields') AS f (path text, steps text, weight double precision) LOOP
        IF field.steps IS NULL THEN
            RETURN QUERY SELECT field.weight, s FROM tidegate.text_strings(doc) s;
        ELSE
            RETURN QUERY SELECT field.weight, s #>> '{}' FROM jsonb_path_query(doc, field.steps::jsonpath) s
                WHERE jsonb_typeof(s) = 'string';
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.text_values(jsonb, jsonb) IS 'The texts of a document that a text index holds, with the weights of their fields.';

CREATE FUNCTION tidegate.text_language(doc jsonb, spec jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    RETURN coalesce(tidegate.text_dictionary(doc ->> (spec ->> 'language_override')),
                    tidegate.text_dictionary(spec ->> 'default_language'));
COMMENT ON FUNCTION tidegate.text_language(jsonb, jsonb) IS 'The dictionary of a document: of the language that it names, else the index''s.';

CREATE FUNCTION tidegate.text_vector(doc jsonb, spec jsonb) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    dictionary text := tidegate.text_language(doc, spec);
BEGIN
    -- A tsvector holds 1 MB; the words beyond that, of a document with so many different ones, are left out.
    RETURN array_to_tsvector(coalesce((SELECT array_agg(w.term) FROM (
            SELECT t.term, sum(octet_length(t.term) + 4) OVER (ORDER BY min(t.place)) AS bytes
            FROM (SELECT u.term, row_number() OVER () AS place FROM tidegate.text_values(doc, spec) v,
                  LATERAL unnest(tidegate.text_terms(v.value, dictionary, false, false)) u (term)) t
            WHERE t.term <> '' GROUP BY t.term) w
        WHERE w.bytes < 1000000), '{}'));
END
$$;
COMMENT ON FUNCTION tidegate.text_vector(jsonb, jsonb) IS
    'The words of a document for a text index; null for null, none for an unlikely document or description of an index.';

-- Searches ----------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.text_words(search jsonb, spec jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    RETURN (SELECT coalesce(array_agg(DISTINCT t), '{}') FROM unnest(tidegate.text_terms(search ->> 'words',
        tidegate.text_dictionary(coalesce(nullif(search ->> 'language', ''), spec ->> 'default_language')), false, false)) t
        WHERE t <> '');
COMMENT ON FUNCTION tidegate.text_words(jsonb, jsonb) IS 'The words that a search looks for, as the index has them.';

CREATE FUNCTION tidegate.text_query(words text[]) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    RETURN (SELECT string_agg('''' || replace(replace(w, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery FROM unnest(words) w);
COMMENT ON FUNCTION tidegate.text_query(text[]) IS 'Any of these words; null for none.';

CREATE FUNCTION tidegate.text_accepts(doc jsonb, spec jsonb, search jsonb) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := tidegate.text_dictionary(coalesce(nullif(search ->> 'language', ''), spec ->> 'default_language'));
    own text := tidegate.text_language(doc, spec);
    by_case boolean := (search -> 'caseSensitive')::boolean;
    by_diacritics boolean := (search -> 'diacriticSensitive')::boolean;
    texts text[] := (SELECT coalesce(array_agg(v.value), '{}') FROM tidegate.text_values(doc, spec) v);
    terms text[] := (SELECT coalesce(array_agg(t), '{}') FROM unnest(texts) s,
                     LATERAL unnest(tidegate.text_terms(s, own, by_case, by_diacritics)) t);
    folded text[] := (SELECT coalesce(array_agg(tidegate.text_folded(s, by_case, by_diacritics)), '{}') FROM unnest(texts) s);
BEGIN
    IF (by_case OR by_diacritics) AND NOT terms && tidegate.text_terms(search ->> 'words', asked, by_case, by_diacritics) THEN
        RETURN false;
    END IF;
    IF terms && tidegate.text_terms(search ->> 'negatedWords', asked, by_case, by_diacritics) THEN RETURN false; END IF;
    RETURN NOT EXISTS (SELECT FROM jsonb_array_elements_text(search -> 'phrases') p
            WHERE NOT EXISTS (SELECT FROM unnest(folded) f WHERE position(tidegate.text_folded(p, by_case, by_diacritics) IN f) > 0))
        AND NOT EXISTS (SELECT FROM jsonb_array_elements_text(search -> 'negatedPhrases') p, unnest(folded) f
            WHERE position(tidegate.text_folded(p, by_case, by_diacritics) IN f) > 0);
END
$$;
COMMENT ON FUNCTION tidegate.text_accepts(jsonb, jsonb, jsonb) IS
    'Whether a document with one of the words has what else a search asks for: phrases, case, diacritics, and nothing that it negates.';

CREATE FUNCTION tidegate.text_score(doc jsonb, spec jsonb, words text[]) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    dictionary text := tidegate.text_language(doc, spec);
    field record;
    found record;
    terms text[];
    score double precision := 0;
BEGIN
    FOR field IN SELECT * FROM tidegate.text_values(doc, spec) LOOP
        terms := tidegate.text_terms(field.value, dictionary, false, false);
        FOR found IN SELECT t AS term, count(*) AS times FROM unnest(terms) t WHERE t = ANY (words) GROUP BY t LOOP
            -- The first occurrence counts 1, each one more half of the one before; more in a short text, and a tenth
            -- more where the word is all of it.
            score := score + field.weight * (2 - 2 ^ (1 - least(found.times, 1000)::double precision))
                * (0.5 * found.times / cardinality(terms) + 0.5)
                * CASE WHEN lower(field.value) = found.term THEN 1.1 ELSE 1 END;
        END LOOP;
    END LOOP;
    RETURN score;
END
$$;
COMMENT ON FUNCTION tidegate.text_score(jsonb, jsonb, text[]) IS 'How well a document answers a search for words: MongoDB''s textScore.';

-- Indexes -----------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.text_spec(keys json, options jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    field record;
    fields jsonb := '[]';
    weight jsonb;
BEGIN
    PERFORM tidegate.check_keys('options', options::json,
        ARRAY['weights', 'default_language', 'language_override', 'name', 'concurrently', 'textIndexVersion']);
    PERFORM tidegate.check_each('options', options::json, ARRAY['default_language', 'language_override', 'name'], ARRAY['string']);
    PERFORM tidegate.check_types('options', options::json, 'weights', ARRAY['object']);
    PERFORM tidegate.check_types('options', options::json, 'concurrently', ARRAY['boolean']);
    IF options ? 'name' AND octet_length(options ->> 'name') NOT BETWEEN 1 AND 63 THEN
        PERFORM tidegate.refuse('options.name', 'must have 1 to 63 bytes');
    END IF;
    IF options ? 'default_language' AND tidegate.text_dictionary(options ->> 'default_language') IS NULL THEN
        PERFORM tidegate.refuse('options.default_language', 'is no language of text search');
    END IF;
    IF options ->> 'language_override' ~ '^\$|[.]' OR options ->> 'language_override' = '' THEN
        PERFORM tidegate.refuse('options.language_override', 'must be the name of a field');
    END IF;
    FOR field IN SELECT k.key AS path, k.value #>> '{}' AS kind FROM json_array_elements(keys) e, json_each(e) k LOOP
        IF field.kind IS DISTINCT FROM 'text' THEN
            PERFORM tidegate.refuse('keys.' || field.path, 'must be "text", like the other fields of a text index');
        ELSIF field.path <> '$**' AND (cardinality(string_to_array(field.path, '.')) > 8 OR octet_length(field.path) > 500
            OR EXISTS (SELECT FROM unnest(string_to_array(field.path, '.')) p WHERE p = '' OR p LIKE '$%' OR p ~ '^[0-9]+$')) THEN
            PERFORM tidegate.refuse('keys.' || field.path,
                'cannot be indexed: a path has at most 8 names that are neither empty nor numbers nor begin with $');
        END IF;
        weight := coalesce(options -> 'weights' -> field.path, '1');
        IF jsonb_typeof(weight) <> 'number' OR weight::numeric NOT BETWEEN 1 AND 99999 OR weight::numeric % 1 <> 0 THEN
            PERFORM tidegate.refuse('options.weights.' || field.path, 'must be a whole number from 1 to 99999');
        END IF;
        fields := fields || jsonb_build_array(jsonb_build_object('path', field.path, 'weight', weight)
            || CASE WHEN field.path = '$**' THEN '{}' ELSE jsonb_build_object('steps',
                (SELECT '$' || string_agg('.' || to_json(p)::text, '' ORDER BY n) || '[*]'
                 FROM unnest(string_to_array(field.path, '.')) WITH ORDINALITY AS u (p, n))) END);
    END LOOP;
    FOR field IN SELECT k.key FROM jsonb_each(coalesce(options -> 'weights', '{}')) k LOOP
        IF NOT fields @> jsonb_build_array(jsonb_build_object('path', field.key)) THEN
            PERFORM tidegate.refuse('options.weights.' || field.key, 'is no field of the index');
        END IF;
    END LOOP;
    IF fields @> '[{"path": "$**"}]' AND jsonb_array_length(fields) > 1 THEN
        PERFORM tidegate.refuse('keys.$**', 'must stand alone');
    ELSIF jsonb_array_length(fields) > 32 THEN
        PERFORM tidegate.refuse('keys', 'names too many fields');
    END IF;
    RETURN jsonb_build_object('fields', fields, 'default_language', coalesce(options ->> 'default_language', 'english'),
        'language_override', coalesce(options ->> 'language_override', 'language'));
END
$$;
COMMENT ON FUNCTION tidegate.text_spec(json, jsonb) IS 'What a text index holds, as its functions take it; error 22023 for what it cannot hold.';

CREATE FUNCTION tidegate.create_text_index(database text, collection text, keys json, options jsonb) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer := tidegate.collection_id(database, collection);
    entry tidegate.collections;
    spec jsonb := tidegate.text_spec(keys, options);
    base text;
    name text;
    made integer;
BEGIN
    PERFORM tidegate.refuse_mapped(database, collection);
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target FOR UPDATE;
    IF EXISTS (SELECT FROM tidegate.indexes i WHERE i.collection_id = target AND i.fields @> '[{"text": {}}]') THEN
        PERFORM tidegate.refuse('keys', 'have a text index already: a collection has one at the most');
    END IF;
    base := coalesce(options ->> 'name', entry.table_name || '_'
        || (SELECT string_agg(f ->> 'path', '_text_') FROM jsonb_array_elements(spec -> 'fields') f) || '_text');
    IF EXISTS (SELECT FROM tidegate.indexes i WHERE i.collection_id = target AND i.name = base) THEN
        PERFORM tidegate.refuse('options.name', format('is that of another index: %s', base));
    END IF;
    name := tidegate.free_index_name(base, entry.schema_name, entry.table_name);
    INSERT INTO tidegate.indexes (collection_id, name, keys, options, relations, definitions, fields, state)
        VALUES (target, name, (SELECT json_object_agg(k.key, k.value) FROM json_array_elements(keys) e, json_each(e) k), options,
                ARRAY[name], ARRAY[format('CREATE INDEX %I ON %I.%I USING gin (tidegate.text_vector(doc, %L::jsonb))',
                    name, entry.schema_name, entry.table_name, spec)],
                jsonb_build_array(jsonb_build_object('text', spec)), 'waiting')
        RETURNING id INTO made;
    IF coalesce((options ->> 'concurrently')::boolean,
            pg_table_size(format('%I.%I', entry.schema_name, entry.table_name)::regclass) > tidegate.rewrite_limit()) THEN
        PERFORM pg_notify('tidegate_indexes', made::text);
        RAISE NOTICE '% waits to be built', name
            USING HINT = 'A gateway whose login is a member of tidegate_owner builds it, or: tidegate build-indexes';
        RETURN name;
    END IF;
    EXECUTE (SELECT i.definitions[1] FROM tidegate.indexes i WHERE i.id = made);
    PERFORM tidegate.finish_index(made, NULL);
    RETURN name;
END
$$;
COMMENT ON FUNCTION tidegate.create_text_index(text, text, json, jsonb) IS 'Makes a text index, for create_index.';

ALTER FUNCTION tidegate.create_index(text, text, text, anycompatible, jsonb) RENAME TO create_ordered_index;
COMMENT ON FUNCTION tidegate.create_ordered_index(text, text, text, anycompatible, jsonb) IS
    'Makes an index on the values of fields, for create_index.';

CREATE FUNCTION tidegate.create_index(
    app text, database text, collection text, keys anycompatible, options jsonb DEFAULT '{}'
) RETURNS text
    LANGUAGE plpgsql
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
    RETURN tidegate.create_ordered_index(app, database, collection, keys, options);
END
$$;
DO $$
BEGIN
    EXECUTE format('COMMENT ON FUNCTION tidegate.create_index(text, text, text, anycompatible, jsonb) IS %L',
        'Makes an index on fields, {"owner": 1, "due": -1}, and returns its name; {"$**": 1} is one for equality on any field, {"title": "text", "body": "text"} or {"$**": "text"} one for $text. Options: unique, sparse, partialFilterExpression ($eq, $exists, $gt, $gte, $in, $lt, $lte, $type, $and, $or), expireAfterSeconds (gateways remove documents whose date is older), name, types ({"due": "date"}; else the schema or the documents say), concurrently; of text: weights ({"title": 10}), default_language (english; none keeps every word as it is), language_override (the field in which a document names its language), name, concurrently. Fields get typed columns, unless the table is large (tidegate.promote_up_to): then the index waits until it can be built beside writers, and list_indexes tells its state. A unique one refuses equal values with MongoDB''s error 11000: missing and null are one value unless it is sparse, an array is one value; of its partial numbers, decimals and infinities are left out. The values of one entry together may take 2,600 bytes.');
END
$$;

-- Privileges --------------------------------------------------------------------------------------------

DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND (p.proname LIKE 'text\_%' OR p.proname IN ('create_index', 'create_ordered_index', 'create_text_index'))
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC, tidegate_admin', object.name);
        IF object.short = 'create_index' THEN
            EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER', object.name);
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
        -- Whoever writes documents makes the entries of their indexes.
        IF object.short = 'text_vector' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
        IF object.short IN ('text_vector', 'text_words', 'text_query', 'text_accepts', 'text_score') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        END IF;
    END LOOP;
END
$$;
