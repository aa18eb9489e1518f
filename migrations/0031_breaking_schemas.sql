-- Device Sync: breaking changes of a schema by devices, in development mode.

CREATE FUNCTION tidegate.break_sync_schemas(app text, ident bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    newest bigint;
BEGIN
    PERFORM tidegate.check_development(break_sync_schemas.app);
    -- Whoever is adding to the history finishes first.
    PERFORM FROM tidegate.sync_apps a WHERE a.app = break_sync_schemas.app FOR UPDATE;
    DELETE FROM tidegate.sync_files f WHERE f.app = break_sync_schemas.app AND f.ident <> break_sync_schemas.ident;
    DELETE FROM tidegate.sync_history h WHERE h.app = break_sync_schemas.app;
    SELECT max(s.version) INTO newest FROM tidegate.sync_schemas s WHERE s.app = break_sync_schemas.app;
    DELETE FROM tidegate.sync_schemas s WHERE s.app = break_sync_schemas.app AND s.version < newest;
    -- Kept as it is now, the newest is not taken for one that others break with.
    UPDATE tidegate.sync_schemas s SET schemas = tidegate.present_schemas(break_sync_schemas.app)
        WHERE s.app = break_sync_schemas.app AND s.version = newest;
END
$$;
COMMENT ON FUNCTION tidegate.break_sync_schemas(text, bigint) IS
    'For the gateway: a device has replaced parts of an app''s schemas, in development mode. All files but its own, the history and earlier versions of the schemas end, as they would with terminate_sync.';

ALTER FUNCTION tidegate.break_sync_schemas(text, bigint) OWNER TO tidegate_owner;
REVOKE ALL ON FUNCTION tidegate.break_sync_schemas(text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tidegate.break_sync_schemas(text, bigint) TO tidegate_gateway;
