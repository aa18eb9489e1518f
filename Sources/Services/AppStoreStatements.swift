import SQL

/// All SQL about an app's configuration, migration `0001_apps.sql`.
enum AppStoreStatements {
    /// The internal ids of all apps.
    static let ids: SQLFragment = "SELECT id FROM tidegate.apps ORDER BY id"

    /// Every row of one app but for kept files: kind, up to four names, the JSON.
    ///
    /// One statement, so that it sees one moment. Secrets are shown to one app's load at a time.
    static func rows(app: String) -> SQLFragment {
        """
        WITH chosen AS (SELECT a.id AS chosen_id, a.* FROM tidegate.apps a WHERE a.id = \(bind: .text(app)))
        SELECT id, 'app', client_app_id, name, environment, version::text, config::text FROM chosen
        UNION ALL SELECT app, 'environment', tag, NULL, NULL, NULL, e.config::text
            FROM tidegate.environments e JOIN chosen ON chosen_id = app
        UNION ALL SELECT app, 'value', v.name, NULL, NULL, NULL, v.config::text
            FROM tidegate.app_values v JOIN chosen ON chosen_id = app
        UNION ALL SELECT chosen_id, 'secret', s.name, NULL, NULL, NULL, s.value
            FROM chosen, tidegate.read_secrets(chosen_id) s
        UNION ALL SELECT app, 'source', d.name, NULL, NULL, d.default_rule::text, d.config::text
            FROM tidegate.data_sources d JOIN chosen ON chosen_id = app
        UNION ALL SELECT app, 'rules', data_source, database, collection, NULL, rules::text
            FROM tidegate.collection_rules JOIN chosen ON chosen_id = app WHERE rules IS NOT NULL
        UNION ALL SELECT app, 'schema', data_source, database, collection, NULL, schema::text
            FROM tidegate.collection_rules JOIN chosen ON chosen_id = app WHERE schema IS NOT NULL
        UNION ALL SELECT app, 'relationships', data_source, database, collection, NULL, relationships::text
            FROM tidegate.collection_rules JOIN chosen ON chosen_id = app WHERE relationships IS NOT NULL
        UNION ALL SELECT app, 'function', f.name, NULL, NULL, f.source, f.config::text
            FROM tidegate.functions f JOIN chosen ON chosen_id = app
        UNION ALL SELECT app, 'endpoint', route, http_method, NULL, NULL, e.config::text
            FROM tidegate.endpoints e JOIN chosen ON chosen_id = app
        UNION ALL SELECT app, 'provider', p.name, NULL, NULL, NULL, p.config::text
            FROM tidegate.providers p JOIN chosen ON chosen_id = app
        UNION ALL SELECT app, 'setting', s.name, NULL, NULL, NULL, s.config::text
            FROM tidegate.settings s JOIN chosen ON chosen_id = app
        UNION ALL SELECT app, 'trigger', t.name, NULL, NULL, NULL, t.config::text
            FROM tidegate.triggers t JOIN chosen ON chosen_id = app
        """
    }

    static func files(app: String) -> SQLFragment {
        "SELECT path, encode(body, 'hex') FROM tidegate.other_files WHERE app = \(bind: .text(app)) ORDER BY path"
    }

    /// What an app's mails say where it is not the standard text: purpose, subject, body.
    static func mailTemplates(app: String) -> SQLFragment {
        """
        SELECT purpose, subject, body FROM tidegate.mail_templates WHERE app = \(bind: .text(app)) ORDER BY purpose
        """
    }

    static func setMailTemplate(app: String, purpose: String, body: String, subject: String?) -> SQLFragment {
        let subject: SQLFragment = subject.map { "\(bind: .text($0))" } ?? "NULL"
        return """
            SELECT tidegate.set_mail_template(
                \(bind: .text(app)), \(bind: .text(purpose)), \(bind: .text(body)), \(subject))
            """
    }

    static func removeMailTemplate(app: String, purpose: String) -> SQLFragment {
        "SELECT tidegate.remove_mail_template(\(bind: .text(app)), \(bind: .text(purpose)))"
    }

    static func find(_ app: String) -> SQLFragment {
        """
        SELECT id, client_app_id, version FROM tidegate.apps
        WHERE \(bind: .text(app)) IN (id, client_app_id, name)
        ORDER BY id = \(bind: .text(app)) DESC, client_app_id = \(bind: .text(app)) DESC LIMIT 1
        """
    }

    static func findByName(_ name: String) -> SQLFragment {
        "SELECT id, client_app_id, version FROM tidegate.apps WHERE name = \(bind: .text(name))"
    }

    static func ownerOf(clientAppID: String) -> SQLFragment {
        "SELECT name FROM tidegate.apps WHERE client_app_id = \(bind: .text(clientAppID))"
    }

    /// Imports of one name follow one another.
    static func lock(name: String) -> SQLFragment {
        "SELECT pg_advisory_xact_lock(hashtextextended('tidegate.import ' || \(bind: .text(name)), 0))"
    }

    static func create(name: String, clientAppID: String?) -> SQLFragment {
        let id: SQLFragment =
            clientAppID.map { "\(bind: .text($0))" }
            ?? "tidegate.new_client_app_id(\(bind: .text(name)))"
        return """
            INSERT INTO tidegate.apps (name, client_app_id) VALUES (\(bind: .text(name)), \(id))
            RETURNING id, client_app_id, version
            """
    }

    static func setClientAppID(_ clientAppID: String, app: String) -> SQLFragment {
        """
        UPDATE tidegate.apps SET client_app_id = \(bind: .text(clientAppID))
        WHERE id = \(bind: .text(app)) AND client_app_id <> \(bind: .text(clientAppID))
        """
    }

    static func setRoot(app: String, config: String, environment: String) -> SQLFragment {
        """
        UPDATE tidegate.apps SET config = \(bind: .text(config))::json, environment = \(bind: .text(environment))
        WHERE id = \(bind: .text(app))
          AND (config::text, environment) IS DISTINCT FROM (\(bind: .text(config)), \(bind: .text(environment)))
        """
    }

    static func rootFlag(_ key: String, app: String) -> SQLFragment {
        "SELECT config->>\(bind: .text(key)) FROM tidegate.apps WHERE id = \(bind: .text(app))"
    }

    static func version(app: String) -> SQLFragment {
        "SELECT version FROM tidegate.apps WHERE id = \(bind: .text(app))"
    }

    static func secretNames(app: String) -> SQLFragment {
        "SELECT name FROM tidegate.secrets WHERE app = \(bind: .text(app))"
    }

    static func ensureCollection(database: String, collection: String) -> SQLFragment {
        "SELECT tidegate.ensure_collection(\(bind: .text(database)), \(bind: .text(collection)))"
    }

    static func promote(database: String, collection: String, path: String, type: String) -> SQLFragment {
        """
        SELECT tidegate.promote_field(
            \(bind: .text(database)), \(bind: .text(collection)), \(bind: .text(path)), \(bind: .text(type)))
        """
    }

    static func recordErrors(app: String, version: Int64, errors: String, inForce: Int64?) -> SQLFragment {
        let inForce: SQLFragment = inForce.map { "\(bind: .int($0))" } ?? "NULL"
        return """
            INSERT INTO tidegate.config_errors AS e (app, version, errors, in_force)
            VALUES (\(bind: .text(app)), \(bind: .int(version)), \(bind: .text(errors))::json, \(inForce))
            ON CONFLICT (app, version) DO UPDATE SET at = now(), errors = excluded.errors, in_force = excluded.in_force
            """
    }
}

/// Tables whose rows are an app, a name and a JSON object.
enum ConfigurationTable: CaseIterable {
    case environments
    case values
    case providers
    case settings
    case triggers

    private var table: SQLFragment {
        switch self {
        case .environments: "tidegate.environments"
        case .values: "tidegate.app_values"
        case .providers: "tidegate.providers"
        case .settings: "tidegate.settings"
        case .triggers: "tidegate.triggers"
        }
    }

    private var key: SQLFragment {
        switch self {
        case .environments: "tag"
        case .values, .providers, .settings, .triggers: "name"
        }
    }

    /// Inserts or changes rows; equal ones are left alone, so that no version is raised.
    func put(app: String, names: [String], configs: [String]) -> SQLFragment {
        """
        INSERT INTO \(table) AS t (app, \(key), config)
        SELECT \(bind: .text(app)), name, config::json
        FROM unnest(\(bind: .textArray(names)), \(bind: .textArray(configs))) AS new (name, config)
        ON CONFLICT (app, \(key)) DO UPDATE SET config = excluded.config
        WHERE t.config::text <> excluded.config::text
        """
    }

    func removeOthers(app: String, names: [String]) -> SQLFragment {
        "DELETE FROM \(table) WHERE app = \(bind: .text(app)) AND \(key) <> ALL (\(bind: .textArray(names)))"
    }
}

extension AppStoreStatements {
    static func putSources(app: String, names: [String], configs: [String], defaults: [String]) -> SQLFragment
    {
        """
        INSERT INTO tidegate.data_sources AS t (app, name, config, default_rule)
        SELECT \(bind: .text(app)), name, config::json, nullif(default_rule, '')::json
        FROM unnest(\(bind: .textArray(names)), \(bind: .textArray(configs)), \(bind: .textArray(defaults)))
            AS new (name, config, default_rule)
        ON CONFLICT (app, name) DO UPDATE SET config = excluded.config, default_rule = excluded.default_rule
        WHERE (t.config::text, t.default_rule::text)
            IS DISTINCT FROM (excluded.config::text, excluded.default_rule::text)
        """
    }

    static func removeSources(app: String, except names: [String]) -> SQLFragment {
        """
        DELETE FROM tidegate.data_sources
        WHERE app = \(bind: .text(app)) AND name <> ALL (\(bind: .textArray(names)))
        """
    }

    static func putCollection(
        app: String,
        source: String,
        database: String,
        collection: String,
        rules: String,
        schema: String,
        relationships: String
    ) -> SQLFragment {
        """
        INSERT INTO tidegate.collection_rules AS t
            (app, data_source, database, collection, rules, schema, relationships)
        VALUES (\(bind: .text(app)), \(bind: .text(source)), \(bind: .text(database)), \(bind: .text(collection)),
            nullif(\(bind: .text(rules)), '')::json, nullif(\(bind: .text(schema)), '')::json,
            nullif(\(bind: .text(relationships)), '')::json)
        ON CONFLICT (app, data_source, database, collection) DO UPDATE
        SET rules = excluded.rules, schema = excluded.schema, relationships = excluded.relationships
        WHERE (t.rules::text, t.schema::text, t.relationships::text)
            IS DISTINCT FROM (excluded.rules::text, excluded.schema::text, excluded.relationships::text)
        """
    }

    static func removeCollections(
        app: String,
        exceptSources sources: [String],
        databases: [String],
        collections: [String]
    ) -> SQLFragment {
        """
        DELETE FROM tidegate.collection_rules t WHERE app = \(bind: .text(app)) AND NOT EXISTS (
            SELECT FROM unnest(\(bind: .textArray(sources)), \(bind: .textArray(databases)),
                \(bind: .textArray(collections))) AS kept (data_source, database, collection)
            WHERE (kept.data_source, kept.database, kept.collection) = (t.data_source, t.database, t.collection))
        """
    }

    static func putFunctions(app: String, names: [String], configs: [String], sources: [String])
        -> SQLFragment
    {
        """
        INSERT INTO tidegate.functions AS t (app, name, config, source)
        SELECT \(bind: .text(app)), name, config::json, source
        FROM unnest(\(bind: .textArray(names)), \(bind: .textArray(configs)), \(bind: .textArray(sources)))
            AS new (name, config, source)
        ON CONFLICT (app, name) DO UPDATE SET config = excluded.config, source = excluded.source
        WHERE (t.config::text, t.source) IS DISTINCT FROM (excluded.config::text, excluded.source)
        """
    }

    static func removeFunctions(app: String, except names: [String]) -> SQLFragment {
        """
        DELETE FROM tidegate.functions
        WHERE app = \(bind: .text(app)) AND name <> ALL (\(bind: .textArray(names)))
        """
    }

    static func putEndpoints(app: String, routes: [String], methods: [String], configs: [String])
        -> SQLFragment
    {
        """
        INSERT INTO tidegate.endpoints AS t (app, route, http_method, config)
        SELECT \(bind: .text(app)), route, http_method, config::json
        FROM unnest(\(bind: .textArray(routes)), \(bind: .textArray(methods)), \(bind: .textArray(configs)))
            AS new (route, http_method, config)
        ON CONFLICT (app, route, http_method) DO UPDATE SET config = excluded.config
        WHERE t.config::text <> excluded.config::text
        """
    }

    static func removeEndpoints(app: String, exceptRoutes routes: [String], methods: [String]) -> SQLFragment
    {
        """
        DELETE FROM tidegate.endpoints t WHERE app = \(bind: .text(app)) AND NOT EXISTS (
            SELECT FROM unnest(\(bind: .textArray(routes)), \(bind: .textArray(methods))) AS kept (route, http_method)
            WHERE (kept.route, kept.http_method) = (t.route, t.http_method))
        """
    }

    /// Equal ones are left alone; empty ones count as missing.
    static func putSecrets(app: String, names: [String], values: [String]) -> SQLFragment {
        """
        SELECT tidegate.set_secret(\(bind: .text(app)), name, value)
        FROM unnest(\(bind: .textArray(names)), \(bind: .textArray(values))) AS new (name, value)
        WHERE value <> ''
        """
    }

    static func putFile(app: String, path: String, body: [UInt8]) -> SQLFragment {
        """
        INSERT INTO tidegate.other_files AS t (app, path, body)
        VALUES (\(bind: .text(app)), \(bind: .text(path)), \(bind: .bytes(body)))
        ON CONFLICT (app, path) DO UPDATE SET body = excluded.body WHERE t.body <> excluded.body
        """
    }

    static func removeFiles(app: String, except paths: [String]) -> SQLFragment {
        """
        DELETE FROM tidegate.other_files
        WHERE app = \(bind: .text(app)) AND path <> ALL (\(bind: .textArray(paths)))
        """
    }
}
