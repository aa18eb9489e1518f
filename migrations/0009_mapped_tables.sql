-- Relations that exist already, served as collections: tidegate.map_table.
--
-- A mapped collection lies in a view of the form that every collection's table has (_id, doc, shape), made of the
-- relation's columns, with triggers that turn documents back into columns. So rules, filters, updates and pipelines
-- are the same code, and mean the same, as for a collection of our own. Columns whose type holds exactly what a field
-- can be asked for stand in the view by themselves, so that filters reach the relation's own indexes.
-- Source: reference/storage-study.md §9.

ALTER TABLE tidegate.collections ADD COLUMN mapped jsonb CHECK (jsonb_typeof(mapped) = 'object');
COMMENT ON COLUMN tidegate.collections.mapped IS
    'The relation that is served: {"relation", "writable", "fields": {"<field>": "<column>"}, "overflow"}; null for a table of our own.';

CREATE SCHEMA tidegate_maps AUTHORIZATION tidegate_owner;
COMMENT ON SCHEMA tidegate_maps IS 'The views by which mapped relations are served.';
REVOKE ALL ON SCHEMA tidegate_maps FROM PUBLIC;
-- People look at the relation itself.
GRANT USAGE ON SCHEMA tidegate_maps TO tidegate_gateway;

-- Columns as values -------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.json_of_double(value double precision) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN CASE
        WHEN value::text IN ('NaN', 'Infinity', '-Infinity') THEN jsonb_build_object('$numberDouble', value::text)
        WHEN value::text = '-0' THEN '{"$numberDouble": "-0.0"}'::jsonb
        WHEN abs(value) >= 9007199254740992 AND abs(value) < 18446744073709551616
        THEN (round(tidegate.exact_double(value), 1)::text)::jsonb
        WHEN scale(trim_scale(value::text::numeric)) = 0 THEN (round(value::text::numeric, 1)::text)::jsonb
        ELSE (trim_scale(value::text::numeric)::text)::jsonb END;
COMMENT ON FUNCTION tidegate.json_of_double(double precision) IS 'A double as documents hold it.';

CREATE FUNCTION tidegate.json_of_decimal(value numeric) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN jsonb_build_object('$numberDecimal',
        CASE WHEN length(value::text) <= 35 THEN value::text
             ELSE btrim(to_char(value, '9.999999999999999999999999999999999EEEE')) END);
COMMENT ON FUNCTION tidegate.json_of_decimal(numeric) IS 'A numeric as documents hold it: a decimal of at most 34 digits.';

CREATE FUNCTION tidegate.json_of_time(value timestamptz) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN CASE WHEN isfinite(value) THEN jsonb_build_object('$date', floor(extract(epoch FROM value) * 1000)) END;
COMMENT ON FUNCTION tidegate.json_of_time(timestamptz) IS 'A time as documents hold it: whole milliseconds.';

CREATE FUNCTION tidegate.mapped_type(type oid) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    RETURN (SELECT CASE
        WHEN t.typtype = 'e' THEN 'enum'
        WHEN t.typname IN ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar', 'bpchar', 'bool', 'uuid',
                           'date', 'timestamp', 'timestamptz', 'json', 'jsonb', 'bytea') THEN t.typname::text
        WHEN t.typname IN ('_text', '_varchar', '_int4', '_int2', '_bool') THEN t.typname::text END
        FROM pg_type b JOIN pg_type t ON t.oid = CASE b.typtype WHEN 'd' THEN b.typbasetype ELSE b.oid END
        WHERE b.oid = type AND (t.typtype = 'e' OR t.typnamespace = 'pg_catalog'::regnamespace));
COMMENT ON FUNCTION tidegate.mapped_type(oid) IS 'What a column''s type is called here; null for types that are not served.';

CREATE FUNCTION tidegate.mapped_value(name text, type text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN CASE type
        WHEN 'int8' THEN format('tidegate.number_json(%s::numeric, 2)', name)
        WHEN 'float4' THEN format('tidegate.json_of_double(%s::float8)', name)
        WHEN 'float8' THEN format('tidegate.json_of_double(%s)', name)
        WHEN 'numeric' THEN format('tidegate.json_of_decimal(%s)', name)
        WHEN 'uuid' THEN format('CASE WHEN %1$s IS NOT NULL THEN jsonb_build_object(''$uuid'', %1$s::text) END', name)
        WHEN 'timestamptz' THEN format('tidegate.json_of_time(%s)', name)
        WHEN 'timestamp' THEN format('tidegate.json_of_time(%s AT TIME ZONE ''UTC'')', name)
        WHEN 'date' THEN format('tidegate.json_of_time(%s::timestamp AT TIME ZONE ''UTC'')', name)
        WHEN 'bytea' THEN format('CASE WHEN %1$s IS NOT NULL THEN jsonb_build_object(''$binary'', jsonb_build_object(''base64'', '
                                 'translate(encode(%1$s, ''base64''), E''\n'', ''''), ''subType'', ''00'')) END', name)
        WHEN 'json' THEN format('%s::jsonb', name)
        WHEN 'jsonb' THEN name
        WHEN 'bpchar' THEN format('to_jsonb(%s::text)', name)
        WHEN 'enum' THEN format('to_jsonb(%s::text)', name)
        ELSE format('to_jsonb(%s)', name) END;
COMMENT ON FUNCTION tidegate.mapped_value(text, text) IS 'The SQL expression of a column as the value of a field.';

CREATE FUNCTION tidegate.mapped_key(name text, type text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN CASE
        -- tidegate.number_key without a function of ours, so that the relation's owner may index it.
        WHEN type IN ('int2', 'int4', 'int8') THEN format(
            '((CASE WHEN %1$s = 0 THEN ''n3'' WHEN %1$s > 0 '
            'THEN ''n4'' || lpad((length(%1$s::text) + 10000)::text, 5, ''0'') || rtrim(%1$s::text, ''0'') '
            'ELSE ''n2'' || lpad((90000 - length(%1$s::text))::text, 5, ''0'') '
            '|| translate(rtrim(ltrim(%1$s::text, ''-''), ''0''), ''0123456789'', ''9876543210'') || ''~'' END) COLLATE "C")', name)
        WHEN type IN ('text', 'varchar') THEN format('((''s''::text || %s::text) COLLATE "C")', name)
        WHEN type = 'uuid' THEN format('((''w0000001004''::text || replace(%s::text, ''-'', '''')) COLLATE "C")', name) END;
COMMENT ON FUNCTION tidegate.mapped_key(text, text) IS 'The SQL expression of a key column as the key of a document.';

-- Values as columns -------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.refuse_document(field text, reason text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'Document failed validation: % %', field, reason USING ERRCODE = 'TG121';
END
$$;
COMMENT ON FUNCTION tidegate.refuse_document(text, text) IS
    'Raises what reaches callers as MongoDB''s error 121, DocumentValidationFailure.';

CREATE FUNCTION tidegate.column_text(value jsonb, type text, modifier integer, labels text[], field text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    digits numeric;
    wanted text := CASE WHEN type IN ('int2', 'int4', 'int8') THEN 'a whole number' WHEN type LIKE 'float_' THEN 'a number'
        WHEN type = 'numeric' THEN 'a decimal or another number' WHEN type IN ('text', 'varchar', 'bpchar', 'enum') THEN 'a string'
        WHEN type = 'bool' THEN 'a boolean' WHEN type = 'uuid' THEN 'a UUID' WHEN type LIKE 'time%' THEN 'a date'
        WHEN type = 'date' THEN 'a date at midnight (UTC)' WHEN type = 'bytea' THEN 'binary data of subtype 0'
        ELSE 'an array of values of one type' END;
    text_value text;
BEGIN
    IF value IS NULL OR (jsonb_typeof(value) = 'null' AND type NOT IN ('json', 'jsonb')) THEN RETURN NULL; END IF;
    IF type IN ('json', 'jsonb') THEN RETURN value::text; END IF;
    IF jsonb_typeof(value) = 'number' THEN
        digits := value::numeric;
    ELSIF value ->> '$numberDecimal' IS NOT NULL THEN
        digits := tidegate.decimal_value(value ->> '$numberDecimal');
    END IF;
    IF type IN ('int2', 'int4', 'int8') AND digits = trunc(digits) THEN
        IF abs(digits + 0.5) > (CASE type WHEN 'int2' THEN 32768 WHEN 'int4' THEN 2147483648 ELSE 9223372036854775808 END) THEN
            PERFORM tidegate.refuse_document(field, format('is out of the range of %s', type));
        END IF;
        text_value := trunc(digits)::text;
    ELSIF type IN ('float4', 'float8') AND jsonb_typeof(value) = 'number' THEN
        text_value := value::text;
    ELSIF type IN ('float4', 'float8') AND value ->> '$numberDouble' IS NOT NULL THEN
        text_value := value ->> '$numberDouble';
    ELSIF type = 'numeric' AND (digits IS NOT NULL OR value ->> '$numberDecimal' = 'NaN') THEN
        text_value := coalesce(trim_scale(digits)::text, 'NaN');
        -- Scale and precision of the column: nothing is rounded away.
        IF modifier >= 4 AND digits IS NOT NULL AND (scale(trim_scale(digits)) > ((modifier - 4) & 65535)
            OR abs(digits) >= 10::numeric ^ ((((modifier - 4) >> 16) & 65535) - ((modifier - 4) & 65535))) THEN
            PERFORM tidegate.refuse_document(field, 'has more digits than its column');
        END IF;
        text_value := coalesce(value ->> '$numberDecimal', text_value);
    ELSIF type IN ('text', 'varchar', 'bpchar', 'enum') AND jsonb_typeof(value) = 'string' THEN
        text_value := value #>> '{}';
        IF type IN ('varchar', 'bpchar') AND modifier >= 4 AND char_length(text_value) > modifier - 4 THEN
            PERFORM tidegate.refuse_document(field, format('is longer than %s characters', modifier - 4));
        ELSIF type = 'enum' AND text_value <> ALL (labels) THEN
            PERFORM tidegate.refuse_document(field, 'is none of the values of its column');
        END IF;
    ELSIF type = 'bool' AND jsonb_typeof(value) = 'boolean' THEN
        text_value := value #>> '{}';
    ELSIF type = 'uuid' AND value ->> '$uuid' IS NOT NULL THEN
        text_value := value ->> '$uuid';
    ELSIF type IN ('timestamptz', 'timestamp', 'date') AND jsonb_typeof(value -> '$date') = 'number' THEN
        digits := (value -> '$date')::numeric;
        IF digits NOT BETWEEN -62135596800000 AND 253402300799999 THEN
            PERFORM tidegate.refuse_document(field, 'is a date before the year 1 or after 9999');
        ELSIF type <> 'date' OR digits % 86400000 = 0 THEN
            text_value := (timestamp '1970-01-01' + make_interval(secs => (digits / 1000)::double precision))::text
                || CASE type WHEN 'timestamptz' THEN '+00' ELSE '' END;
        END IF;
    ELSIF type = 'bytea' AND value #>> '{$binary,subType}' IN ('00', '0') THEN
        text_value := '\x' || encode(decode(value #>> '{$binary,base64}', 'base64'), 'hex');
    ELSIF type LIKE '\_%' AND jsonb_typeof(value) = 'array' THEN
        IF NOT EXISTS (SELECT FROM jsonb_array_elements(value) e WHERE jsonb_typeof(e) NOT IN ('null',
                CASE type WHEN '_bool' THEN 'boolean' WHEN '_int4' THEN 'number' WHEN '_int2' THEN 'number' ELSE 'string' END)) THEN
            text_value := (SELECT coalesce(array_agg(CASE WHEN substr(type, 2) LIKE 'int_' OR type = '_bool'
                    THEN tidegate.column_text(e, substr(type, 2), -1, NULL, field) ELSE e #>> '{}' END ORDER BY n), '{}')::text
                FROM jsonb_array_elements(value) WITH ORDINALITY AS a (e, n));
        END IF;
    END IF;
    IF text_value IS NULL THEN PERFORM tidegate.refuse_document(field, format('must be %s', wanted)); END IF;
    RETURN text_value;
END
$$;
COMMENT ON FUNCTION tidegate.column_text(jsonb, text, integer, text[], text) IS
    'The value of a field as the text of its column; error TG121 for one that the column cannot hold.';

-- Mapping -----------------------------------------------------------------------------------------------

CREATE FUNCTION tidegate.mapped_columns(relation regclass, mapping jsonb)
    RETURNS TABLE (field text, name text, place integer, type text, modifier integer, is_required boolean,
                   is_written boolean, null_stays boolean, default_text text, labels text[], collation_is_exact boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fields jsonb := mapping -> 'fields';
    entry record;
    key_column text;
    form text;
BEGIN
    IF fields IS NULL THEN
        SELECT a.attname INTO key_column FROM pg_index i JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = i.indkey[0]
            WHERE i.indrelid = relation AND i.indisprimary AND i.indnkeyatts = 1;
        fields := (SELECT jsonb_object_agg(CASE a.attname WHEN key_column THEN '_id' ELSE a.attname END, a.attname)
                   FROM pg_attribute a WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
                     AND a.attname IS DISTINCT FROM mapping ->> 'overflow');
    END IF;
    IF NOT coalesce(fields ? '_id', false) THEN
        PERFORM tidegate.refuse('mapping.fields._id', 'must name the column that is the key');
    END IF;
    FOR entry IN SELECT * FROM jsonb_each(fields) LOOP
        form := 'mapping.fields.' || entry.key;
        IF entry.key = '' OR entry.key ~ '^\$|[.]' OR octet_length(entry.key) > 500 THEN
            PERFORM tidegate.refuse(form, 'must be the name of a field: nested fields are not served, a jsonb column is');
        END IF;
        IF jsonb_typeof(entry.value) = 'object' THEN
            PERFORM tidegate.check_keys(form, entry.value::json, ARRAY['column', 'null']);
            IF coalesce(entry.value ->> 'null', 'missing') NOT IN ('missing', 'null') THEN
                PERFORM tidegate.refuse(form || '.null', 'must be missing or null');
            END IF;
            null_stays := coalesce(entry.value ->> 'null', 'missing') = 'null';
            name := entry.value ->> 'column';
        ELSIF jsonb_typeof(entry.value) = 'string' THEN
            null_stays := false;
            name := entry.value #>> '{}';
        ELSE
            PERFORM tidegate.refuse(form, 'must be the name of a column, or {"column", "null"}');
        END IF;
        SELECT a.attnum, tidegate.mapped_type(a.atttypid), a.atttypmod, a.attnotnull,
               a.attgenerated = '' AND a.attidentity <> 'a', pg_get_expr(d.adbin, d.adrelid),
               (SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = a.atttypid),
               coalesce((SELECT c.collisdeterministic FROM pg_collation c WHERE c.oid = a.attcollation), true)
            INTO place, type, modifier, is_required, is_written, default_text, labels, collation_is_exact
            FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = name;
        IF NOT FOUND THEN
            PERFORM tidegate.refuse(form, format('names a column that %s has not: %s', relation, coalesce(name, 'null')));
        ELSIF type IS NULL THEN
            PERFORM tidegate.refuse(form, format('has a type that is not served: %s', (SELECT format_type(a.atttypid, a.atttypmod)
                FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = name)));
        ELSIF entry.key = '_id' AND tidegate.mapped_key('x', type) IS NULL THEN
            PERFORM tidegate.refuse(form, 'must be an integer, text or uuid column');
        END IF;
        field := entry.key;
        RETURN NEXT;
    END LOOP;
END
$$;
COMMENT ON FUNCTION tidegate.mapped_columns(regclass, jsonb) IS 'The fields of a mapping with their columns.';

CREATE FUNCTION tidegate.mapped_document(columns jsonb, overflow text, alias text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN (SELECT CASE WHEN overflow IS NULL THEN ''
                ELSE format('(coalesce(CASE WHEN jsonb_typeof(%1$s.%2$I) = ''object'' THEN %1$s.%2$I END, ''{}''::jsonb) - %3$L::text[]) || ',
                    alias, overflow, (SELECT array_agg(e ->> 'field') FROM jsonb_array_elements(columns) e)) END
            || string_agg(CASE
                WHEN (e ->> 'null_stays')::boolean THEN format('jsonb_build_object(%L, coalesce(%s, ''null''::jsonb))', e ->> 'field', v.text)
                WHEN (e ->> 'is_required')::boolean THEN format('jsonb_build_object(%L, %s)', e ->> 'field', v.text)
                ELSE format('CASE WHEN %s IS NULL THEN ''{}''::jsonb ELSE jsonb_build_object(%L, %1$s) END', v.text, e ->> 'field') END,
                ' || ' ORDER BY (e ->> 'place')::integer)
        FROM jsonb_array_elements(columns) e,
             LATERAL (SELECT tidegate.mapped_value(format('%s.%I', alias, e ->> 'name'), e ->> 'type') AS text) v);
COMMENT ON FUNCTION tidegate.mapped_document(jsonb, text, text) IS 'The SQL expression of a row as a document.';

CREATE FUNCTION tidegate.mapped_trigger(relation regclass, columns jsonb, overflow text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    RETURN (
        WITH parts AS (
            SELECT e ->> 'field' AS field, quote_ident(e ->> 'name') AS name, (e ->> 'place')::integer AS place,
                (e ->> 'is_written')::boolean AS is_written,
                tidegate.mapped_value(format('t.%I', e ->> 'name'), e ->> 'type') AS stored,
                format('CAST(tidegate.column_text(NEW.doc -> %1$L, %2$L, %3$s, %4$L::text[], %1$L) AS %5$s)', e ->> 'field', e ->> 'type',
                    e ->> 'modifier', (SELECT array_agg(l) FROM jsonb_array_elements_text(
                        CASE jsonb_typeof(e -> 'labels') WHEN 'array' THEN e -> 'labels' END) l),
                    (SELECT CASE WHEN e ->> 'type' IN ('varchar', 'bpchar') THEN 'text' ELSE format_type(a.atttypid, NULL) END
                     FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = e ->> 'name')) AS given,
                e ->> 'default_text' AS default_text
            FROM jsonb_array_elements(columns) e
        ), known AS (SELECT array_agg(p.field) AS fields, min(p.name) FILTER (WHERE p.field = '_id') AS key FROM parts p)
        SELECT format($body$
#variable_conflict use_variable
DECLARE
    extra jsonb;
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM %1$s AS t WHERE t.%2$s = OLD.tidegate_key;
        IF FOUND THEN RETURN OLD; END IF;
        RETURN NULL;
    END IF;
    extra := NEW.doc - %3$L::text[];
    %4$s
    IF TG_OP = 'INSERT' THEN
        INSERT INTO %1$s (%5$s) VALUES (%6$s);
        RETURN NEW;
    END IF;
    UPDATE %1$s AS t SET %7$s WHERE t.%2$s = OLD.tidegate_key;
    IF FOUND THEN RETURN NEW; END IF;
    RETURN NULL;
END
$body$, relation, known.key, known.fields,
            CASE WHEN overflow IS NULL THEN
                'IF extra <> ''{}'' THEN PERFORM tidegate.refuse_document((SELECT min(k) FROM jsonb_object_keys(extra) k), '
                || quote_literal('is not a field of this collection') || '); END IF;' ELSE '' END,
            string_agg(p.name, ', ' ORDER BY p.place) FILTER (WHERE p.is_written) || coalesce(', ' || quote_ident(overflow), ''),
            string_agg(CASE WHEN p.default_text IS NULL THEN p.given
                ELSE format('CASE WHEN NEW.doc ? %L THEN %s ELSE %s END', p.field, p.given, p.default_text) END, ', ' ORDER BY p.place)
                FILTER (WHERE p.is_written) || CASE WHEN overflow IS NULL THEN '' ELSE ', extra' END,
            -- A column that the change leaves alone keeps what a document cannot say, such as microseconds.
            coalesce(string_agg(format('%1$s = CASE WHEN NEW.doc -> %2$L IS NOT DISTINCT FROM %3$s THEN t.%1$s ELSE %4$s END',
                p.name, p.field, p.stored, p.given), ', ' ORDER BY p.place) FILTER (WHERE p.is_written AND p.field <> '_id'),
                format('%s = t.%1$s', known.key))
                || CASE WHEN overflow IS NULL THEN '' ELSE format(', %I = extra', overflow) END)
        FROM parts p, known GROUP BY known.key, known.fields);
COMMENT ON FUNCTION tidegate.mapped_trigger(regclass, jsonb, text) IS
    'The body of the trigger that writes a document into the columns of a relation.';

CREATE FUNCTION tidegate.map_table(app text, database text, collection text, relation text, mapping jsonb DEFAULT '{}')
    RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_class regclass;
    class record;
    columns jsonb;
    key_column record;
    overflow text := mapping ->> 'overflow';
    view_name text;
    target integer;
    promoted jsonb;
    extra_columns text;
    is_writable boolean;
    shape_id integer;
BEGIN
    PERFORM tidegate.app_id(app);
    PERFORM tidegate.check_namespace(database, collection);
    PERFORM tidegate.check_name('relation', relation, 200);
    IF mapping IS NULL THEN PERFORM tidegate.refuse('mapping', 'must not be null'); END IF;
    PERFORM tidegate.check_keys('mapping', mapping::json, ARRAY['fields', 'overflow']);
    PERFORM tidegate.check_types('mapping', mapping::json, 'fields', ARRAY['object']);
    PERFORM tidegate.check_types('mapping', mapping::json, 'overflow', ARRAY['string']);
    BEGIN
        found_class := to_regclass(relation);
    EXCEPTION WHEN OTHERS THEN
        PERFORM tidegate.refuse('relation', 'must be schema.name');
    END;
    SELECT c.oid, c.relkind, c.relnamespace::regnamespace::text AS schema, c.relrowsecurity INTO class FROM pg_class c
        WHERE c.oid = found_class;
    IF NOT FOUND THEN PERFORM tidegate.refuse_missing('relation', relation); END IF;
    IF class.relkind NOT IN ('r', 'p', 'v', 'm', 'f') THEN
        PERFORM tidegate.refuse('relation', 'must be a table or a view');
    ELSIF class.schema IN ('tidegate', 'tidegate_maps', 'tidegate_views', 'pg_catalog', 'information_schema')
        OR class.schema LIKE 'pg\_%' THEN
        PERFORM tidegate.refuse('relation', 'belongs to PostgreSQL or to tidegate');
    ELSIF EXISTS (SELECT FROM tidegate.collections c WHERE to_regclass(format('%I.%I', c.schema_name, c.table_name)) = found_class) THEN
        PERFORM tidegate.refuse('relation', 'is a collection already');
    ELSIF class.relrowsecurity THEN
        PERFORM tidegate.refuse('relation', 'has row-level security, which a view would pass by');
    ELSIF NOT has_table_privilege(session_user, found_class, 'SELECT') THEN
        PERFORM tidegate.refuse('relation', format('may not be read by %s', session_user));
    ELSIF NOT has_table_privilege('tidegate_owner', found_class, 'SELECT') THEN
        RAISE EXCEPTION 'relation % may not be read by tidegate_owner', relation
            USING ERRCODE = 'invalid_parameter_value', COLUMN = 'relation', HINT = format(
                'GRANT USAGE ON SCHEMA %s TO tidegate_owner; GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO tidegate_owner;', class.schema, found_class);
    END IF;
    IF EXISTS (SELECT FROM tidegate.collections c
               WHERE c.database = map_table.database AND c.collection = map_table.collection) THEN
        PERFORM tidegate.refuse('collection', format('%L exists', collection));
    END IF;
    is_writable := class.relkind IN ('r', 'p')
        AND has_table_privilege(session_user, found_class, 'INSERT') AND has_table_privilege(session_user, found_class, 'UPDATE')
        AND has_table_privilege(session_user, found_class, 'DELETE')
        AND has_table_privilege('tidegate_owner', found_class, 'INSERT') AND has_table_privilege('tidegate_owner', found_class, 'UPDATE')
        AND has_table_privilege('tidegate_owner', found_class, 'DELETE');
    columns := (SELECT jsonb_agg(to_jsonb(c)) FROM tidegate.mapped_columns(found_class, mapping) c);
    IF jsonb_array_length(columns) > 200 THEN PERFORM tidegate.refuse('mapping.fields', 'are more than 200'); END IF;
    SELECT c.* INTO key_column FROM jsonb_to_recordset(columns) AS c (field text, name text, place integer, type text) WHERE c.field = '_id';
    IF class.relkind IN ('r', 'p') AND NOT EXISTS (
        SELECT FROM pg_index i WHERE i.indrelid = found_class AND i.indisunique AND i.indnkeyatts = 1 AND i.indpred IS NULL
            AND i.indimmediate AND i.indkey[0] = key_column.place)
    THEN
        PERFORM tidegate.refuse('mapping.fields._id', format('needs a unique index on %s', key_column.name));
    END IF;
    IF overflow IS NOT NULL AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = found_class AND a.attname = overflow
            AND a.atttypid = 'jsonb'::regtype AND a.attgenerated = '' AND NOT a.attisdropped)
        OR EXISTS (SELECT FROM jsonb_array_elements(columns) e WHERE e ->> 'name' = overflow) THEN
        PERFORM tidegate.refuse('mapping.overflow', 'must be a jsonb column that is no field');
    END IF;
    IF EXISTS (SELECT FROM jsonb_array_elements(columns) e GROUP BY e ->> 'name' HAVING count(*) > 1) THEN
        PERFORM tidegate.refuse('mapping.fields', 'must not name a column twice');
    END IF;
    -- Columns that stand for their fields exactly, with what the compiler asks of each.
    SELECT jsonb_agg(jsonb_build_object('path', p.field, 'type', p.kind, 'column', format('c%s', p.place), 'rest', 'none')
                     || CASE p.kind WHEN 'string' THEN jsonb_build_object('equal', format('e%s', p.place)) ELSE '{}' END),
           string_agg(CASE p.kind WHEN 'string' THEN format(', t.%I::text COLLATE "C" AS c%s, t.%1$I AS e%2$s', p.name, p.place)
                      ELSE format(', t.%I AS c%s', p.name, p.place) END, '' ORDER BY p.place)
        INTO promoted, extra_columns
        FROM (SELECT c.*, CASE WHEN c.type IN ('int2', 'int4', 'int8') THEN 'integer' WHEN c.type IN ('bool', 'uuid') THEN c.type
                  WHEN c.type IN ('text', 'varchar') AND c.collation_is_exact THEN 'string'
                  WHEN c.type = 'timestamptz' AND c.modifier BETWEEN 0 AND 3 THEN 'date' END AS kind
              FROM jsonb_to_recordset(columns) AS c (field text, name text, place integer, type text, modifier integer,
                                                     collation_is_exact boolean)) p
        WHERE p.kind IS NOT NULL;
    view_name := tidegate.safe_name(database || '.' || collection, false);
    INSERT INTO tidegate.collections (database, collection, schema_name, table_name, promoted, mapped)
        VALUES (map_table.database, map_table.collection, 'tidegate_maps', view_name, coalesce(promoted, '[]'),
                jsonb_build_object('relation', found_class::text, 'writable', is_writable, 'overflow', overflow, 'fields',
                    (SELECT jsonb_object_agg(e ->> 'field', e ->> 'name') FROM jsonb_array_elements(columns) e)))
        RETURNING id INTO target;
    -- Fields come in the order of the columns, the key first.
    shape_id := tidegate.ensure_shape(target, (SELECT '[' || string_agg(to_json(e ->> 'field')::text, ','
        ORDER BY e ->> 'field' <> '_id', (e ->> 'place')::integer) || ']' FROM jsonb_array_elements(columns) e));
    EXECUTE format('CREATE VIEW tidegate_maps.%I AS SELECT %s AS _id, %s AS doc, %s::integer AS shape, t.%I AS tidegate_key, '
                   'NULL::jsonb AS none%s FROM %s AS t WHERE t.%5$I IS NOT NULL', view_name,
        tidegate.mapped_key(format('t.%I', key_column.name), key_column.type),
        tidegate.mapped_document(columns, overflow, 't'), shape_id, key_column.name, coalesce(extra_columns, ''), found_class);
    EXECUTE format('COMMENT ON VIEW tidegate_maps.%I IS %L', view_name,
        format('%s as the collection %s.%s', found_class, database, collection));
    EXECUTE format('GRANT SELECT ON tidegate_maps.%I TO tidegate_gateway', view_name);
    IF is_writable THEN
        EXECUTE format('CREATE FUNCTION tidegate_maps.%I() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER '
                       'SET search_path = pg_catalog, pg_temp AS %L', view_name,
            tidegate.mapped_trigger(found_class, columns, overflow));
        EXECUTE format('REVOKE ALL ON FUNCTION tidegate_maps.%I() FROM PUBLIC', view_name);
        EXECUTE format('CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON tidegate_maps.%I FOR EACH ROW '
                       'EXECUTE FUNCTION tidegate_maps.%1$I()', view_name);
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON tidegate_maps.%I TO tidegate_gateway', view_name);
    END IF;
    PERFORM pg_notify('tidegate_collections', target::text);
    IF class.relkind IN ('r', 'p') THEN
        RAISE NOTICE 'writes to a large relation look for their document by %', key_column.name USING HINT = format(
            'As the owner of %s: CREATE INDEX ON %1$s (%s)', found_class,
            tidegate.mapped_key(quote_ident(key_column.name), key_column.type));
    END IF;
    RETURN format('%I.%I', 'tidegate_maps', view_name);
END
$$;
COMMENT ON FUNCTION tidegate.map_table(text, text, text, text, jsonb) IS
    'Serves a table or view as a collection and returns the view that does it. mapping: {"fields": {"_id": "id", "name": "title", "note": {"column": "note", "null": "null"}}, "overflow": "extra"}; without fields every column is one, and a primary key of one column is _id. _id is an integer, text or uuid column with a unique index (of a view, one that you know to be unique). A column that is NULL is a missing field unless "null" is "null". Unknown fields are refused with MongoDB''s error 121, or kept in the jsonb column overflow. Views, and tables that tidegate_owner may not write, are read only.';

CREATE FUNCTION tidegate.unmap_table(app text, database text, collection text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target integer;
    entry tidegate.collections;
BEGIN
    PERFORM tidegate.app_id(app);
    target := tidegate.collection_id(database, collection);
    SELECT * INTO entry FROM tidegate.collections c WHERE c.id = target FOR UPDATE;
    IF entry.mapped IS NULL THEN
        PERFORM tidegate.refuse('collection', format('%L is no mapped relation', collection));
    END IF;
    EXECUTE format('DROP VIEW IF EXISTS %I.%I', entry.schema_name, entry.table_name);
    EXECUTE format('DROP FUNCTION IF EXISTS %I.%I()', entry.schema_name, entry.table_name);
    DELETE FROM tidegate.collections c WHERE c.id = target;
    PERFORM pg_notify('tidegate_collections', target::text);
END
$$;
COMMENT ON FUNCTION tidegate.unmap_table(text, text, text) IS
    'Serves a mapped relation no longer. The relation and its rows stay as they are.';

CREATE FUNCTION tidegate.list_mapped_tables(app text)
    RETURNS TABLE (database text, collection text, relation text, writable boolean, fields jsonb, overflow text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT tidegate.app_id($1);
          SELECT c.database, c.collection, c.mapped ->> 'relation', (c.mapped ->> 'writable')::boolean, c.mapped -> 'fields',
                 c.mapped ->> 'overflow'
          FROM tidegate.collections c WHERE c.mapped IS NOT NULL ORDER BY 1, 2 $$;
COMMENT ON FUNCTION tidegate.list_mapped_tables(text) IS 'The relations that are served as collections.';

-- What a mapped relation has no place for ---------------------------------------------------------------

CREATE FUNCTION tidegate.is_mapped(database text, collection text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    RETURN EXISTS (SELECT FROM tidegate.collections c
                   WHERE c.database = is_mapped.database AND c.collection = is_mapped.collection AND c.mapped IS NOT NULL);
COMMENT ON FUNCTION tidegate.is_mapped(text, text) IS 'Whether a collection is a mapped relation.';

CREATE FUNCTION tidegate.refuse_mapped(database text, collection text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF tidegate.is_mapped(database, collection) THEN
        PERFORM tidegate.refuse('collection', format('%L is a mapped relation; its columns, indexes and rows are its owner''s, and unmap_table ends it', collection));
    END IF;
END
$$;
COMMENT ON FUNCTION tidegate.refuse_mapped(text, text) IS 'Refuses a mapped relation where only a table of our own will do.';

DO $$
DECLARE
    object record;
BEGIN
    FOR object IN
        SELECT pg_get_functiondef(p.oid) AS definition, p.proname FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace AND p.proname IN ('promote_field', 'demote_field', 'drop_collection',
            'create_index', 'set_listener', 'promote_configured')
    LOOP
        EXECUTE regexp_replace(object.definition, '\mBEGIN\M', CASE object.proname
            WHEN 'promote_configured' THEN 'BEGIN IF tidegate.is_mapped(database, collection) THEN RETURN; END IF;'
            ELSE 'BEGIN PERFORM tidegate.refuse_mapped(database, collection);' END);
    END LOOP;
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
          AND p.proname IN ('json_of_double', 'json_of_decimal', 'json_of_time', 'mapped_type', 'mapped_value', 'mapped_key',
                            'refuse_document', 'column_text', 'mapped_columns', 'mapped_document', 'mapped_trigger',
                            'map_table', 'unmap_table', 'list_mapped_tables', 'is_mapped', 'refuse_mapped')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short LIKE 'json\_of\_%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_gateway', object.name);
        ELSIF object.short IN ('map_table', 'unmap_table', 'list_mapped_tables') THEN
            EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER', object.name);
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
    END LOOP;
    GRANT EXECUTE ON FUNCTION tidegate.list_mapped_tables(text) TO tidegate_readonly;
END
$$;
