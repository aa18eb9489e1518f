-- Which hosts functions may call: an operator's list, for one app or for all.

CREATE TABLE tidegate.outbound_hosts (
    app        text COLLATE "C" REFERENCES tidegate.apps (id) ON DELETE CASCADE,
    pattern    text COLLATE "C" NOT NULL,
    allowed    boolean NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (app, pattern)
);
COMMENT ON TABLE tidegate.outbound_hosts IS
    'Hosts that functions may or may not call: a name, *.name for all below it, an address or a range of addresses, * for everything. A null app is all apps. Without a line that names it, a host is served when its address is public.';

CREATE FUNCTION tidegate.check_host_pattern(pattern text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tidegate.check_name('pattern', pattern, 253);
    IF pattern = '*' OR pattern ~* '^([*][.])?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?[.])*[a-z_]([a-z0-9_-]*[a-z0-9_])?$' THEN
        RETURN lower(pattern);
    END IF;
    BEGIN
        -- A range without bits beyond its length: 10.1.0.0/16.
        PERFORM pattern::cidr;
        IF pattern ~ '^[0-9a-fA-F:.]+(/[0-9]{1,3})?$' THEN RETURN lower(pattern); END IF;
    EXCEPTION WHEN invalid_text_representation OR invalid_parameter_value THEN
        NULL;
    END;
    PERFORM tidegate.refuse('pattern', 'must be a host name, *.name, an address, a range of addresses, or *');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tidegate.check_host_pattern(text) IS 'A pattern of hosts in lower case. Error 22023 when it is none.';

CREATE FUNCTION tidegate.set_outbound_host(app text, pattern text, allowed boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF allowed IS NULL THEN PERFORM tidegate.refuse('allowed', 'must be true or false'); END IF;
    INSERT INTO tidegate.outbound_hosts AS h (app, pattern, allowed)
        VALUES (CASE WHEN app = '*' THEN NULL ELSE tidegate.app_id(app) END, tidegate.check_host_pattern(pattern), allowed)
        ON CONFLICT ON CONSTRAINT outbound_hosts_app_pattern_key DO UPDATE SET allowed = EXCLUDED.allowed, changed_at = now();
END
$$;
COMMENT ON FUNCTION tidegate.set_outbound_host(text, text, boolean) IS
    'Lets the functions of an app (* for all apps) call a host, or keeps them from it, at once. A name, *.name, an address, a range such as 10.1.0.0/16, or * for everything that no other line names. What is allowed may be in a private network; a line that denies wins.';

CREATE FUNCTION tidegate.remove_outbound_host(app text, pattern text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted text := CASE WHEN app = '*' THEN NULL ELSE tidegate.app_id(app) END;
    known text := tidegate.check_host_pattern(pattern);
BEGIN
    DELETE FROM tidegate.outbound_hosts h WHERE h.app IS NOT DISTINCT FROM wanted AND h.pattern = known;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION tidegate.remove_outbound_host(text, text) IS
    'Takes a line off the list of hosts that functions may call; false when there was none.';

CREATE FUNCTION tidegate.list_outbound_hosts() RETURNS TABLE (app text, pattern text, allowed boolean, changed_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT coalesce(a.name, '*'), h.pattern, h.allowed, h.changed_at
          FROM tidegate.outbound_hosts h LEFT JOIN tidegate.apps a ON a.id = h.app ORDER BY 1, 2 $$;
COMMENT ON FUNCTION tidegate.list_outbound_hosts() IS 'The hosts that functions may or may not call, app by app.';

-- Privileges --------------------------------------------------------------------------------------------

GRANT SELECT ON tidegate.outbound_hosts TO tidegate_gateway, tidegate_admin, tidegate_readonly;

DO $$
DECLARE
    object record;
BEGIN
    ALTER TABLE tidegate.outbound_hosts OWNER TO tidegate_owner;
    FOR object IN
        SELECT p.oid::regprocedure AS name, p.proname AS short FROM pg_proc p
        WHERE p.pronamespace = 'tidegate'::regnamespace
          AND p.proname IN ('check_host_pattern', 'set_outbound_host', 'remove_outbound_host', 'list_outbound_hosts')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tidegate_owner', object.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', object.name);
        IF object.short <> 'check_host_pattern' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_admin', object.name);
        END IF;
        IF object.short = 'list_outbound_hosts' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidegate_readonly', object.name);
        END IF;
    END LOOP;
END
$$;
