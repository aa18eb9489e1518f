-- Hidden fields: may callers filter and sort on fields that they cannot read? (reference/rules.md, D10)
--
-- The hosted service let them, so an imported app does, too, unless its administrator says otherwise; an app made
-- by tidegate.create_app does not. The answer stands in the app's root file, and so in its export.

-- tidegate.create_app leaves the column to its default, an import writes it.
ALTER TABLE tidegate.apps ALTER COLUMN config SET DEFAULT '{"allow_hidden_field_queries": false}';

CREATE FUNCTION tidegate.set_hidden_field_queries(app text, allowed boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text := tidegate.app_id(app);
BEGIN
    IF allowed IS NULL THEN
        PERFORM tidegate.refuse('allowed', 'must not be null');
    END IF;
    UPDATE tidegate.apps a
        SET config = jsonb_set(a.config::jsonb, '{allow_hidden_field_queries}', to_jsonb(allowed))::json
        WHERE a.id = target;
END
$$;
COMMENT ON FUNCTION tidegate.set_hidden_field_queries(text, boolean) IS
    'Whether callers may filter and sort on fields that rules hide from them: false refuses it or takes the fields as absent; true is how the hosted service was, and lets callers find hidden values out by asking.';

ALTER FUNCTION tidegate.set_hidden_field_queries(text, boolean) OWNER TO tidegate_owner;
ALTER FUNCTION tidegate.set_hidden_field_queries(text, boolean) SECURITY DEFINER;
REVOKE ALL ON FUNCTION tidegate.set_hidden_field_queries(text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.set_hidden_field_queries(text, boolean) TO tidegate_admin;
