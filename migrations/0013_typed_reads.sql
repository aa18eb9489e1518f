-- A read may look at typed columns alone where nothing lies beside them, which an index that is nearly always empty
-- tells at once: so that one index gives rows and order, where an OR of two columns needs both, and a sort.

CREATE FUNCTION tidegate.typed_alone(has_others boolean, place text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF has_others THEN
        RAISE EXCEPTION 'values of other types lie beside the typed column' USING ERRCODE = 'TG002', CONSTRAINT = place;
    END IF;
    RETURN true;
END
$$;
COMMENT ON FUNCTION tidegate.typed_alone(boolean, text) IS
    'True, or an error TG002 where typed columns do not hold all values that a request looks for.';
ALTER FUNCTION tidegate.typed_alone(boolean, text) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.typed_alone(boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.typed_alone(boolean, text) TO tidegate_gateway;

DO $$
DECLARE
    definition text := pg_get_functiondef('tidegate.promote_field(text,text,text,text)'::regprocedure);
    with_index text := replace(definition,
        'UPDATE tidegate.collections c SET promoted',
        'EXECUTE format(''CREATE INDEX ON %1$I.%2$I (_id) WHERE %3$I IS NOT NULL'',
        entry.schema_name, entry.table_name, column_text || ''[]'');
    UPDATE tidegate.collections c SET promoted');
    with_mark text := replace(with_index,
        '''rest'', column_text || ''[]''', '''rest'', column_text || ''[]'', ''probe'', true');
BEGIN
    IF with_index = definition OR with_mark = with_index THEN
        RAISE EXCEPTION 'tidegate.promote_field is not as migrations made it';
    END IF;
    EXECUTE with_mark;
END
$$;

-- The fields that were promoted before.
DO $$
DECLARE
    entry record;
    field jsonb;
BEGIN
    FOR entry IN SELECT * FROM tidegate.collections c WHERE c.mapped IS NULL FOR UPDATE LOOP
        FOR field IN SELECT * FROM jsonb_array_elements(entry.promoted) LOOP
            EXECUTE format('CREATE INDEX ON %I.%I (_id) WHERE %I IS NOT NULL',
                entry.schema_name, entry.table_name, field ->> 'rest');
        END LOOP;
        UPDATE tidegate.collections c
            SET promoted = (SELECT coalesce(jsonb_agg(e || '{"probe": true}' ORDER BY n), '[]')
                            FROM jsonb_array_elements(entry.promoted) WITH ORDINALITY AS p (e, n))
            WHERE c.id = entry.id;
    END LOOP;
    PERFORM pg_notify('tidegate_collections', '');
END
$$;
