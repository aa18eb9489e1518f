import SQL

/// All SQL about sync, beside the functions of migration 0021.
enum SyncStatements {
    /// Makes an app ready: salt, version.
    static func begin(_ app: String, salt: Int64, databases: [String], collections: [String]) -> SQLFragment {
        """
        SELECT salt, version FROM tidegate.begin_sync(\(bind: .text(app)), \(bind: .int(salt)), \
        \(bind: .textArray(databases)), \(bind: .textArray(collections)))
        """
    }

    /// Keeps an app's schemas: version and schemas of all that are kept, by rising version.
    static func keepSchemas(_ app: String, configuration: Int64, newest: Int64, isBreaking: Bool)
        -> SQLFragment
    {
        """
        SELECT version, schemas FROM tidegate.keep_sync_schemas(\(bind: .text(app)), \(bind: .int(configuration)), \
        \(bind: .int(newest)), \(bind: .bool(isBreaking)))
        """
    }

    /// One row: the new file's identifier.
    ///
    /// The partition is given as canonical extended JSON; an empty text is Flexible Sync.
    static func newFile(_ app: String, salt: Int64, user: String, partition: String, schemaVersion: Int64)
        -> SQLFragment
    {
        """
        SELECT tidegate.new_sync_file(\(bind: .text(app)), \(bind: .int(salt)), \(bind: .text(user)), \
        nullif(\(bind: .text(partition)), ''), \(bind: .int(schemaVersion)))
        """
    }

    /// Takes note that a device is there, and returns what is known of its file, with the app's salt, version and trim, and why
    /// it must begin anew.
    static func meet(_ app: String, file: Int64) -> SQLFragment {
        """
        UPDATE tidegate.sync_files f SET seen_at = now() FROM tidegate.sync_apps a \
        WHERE f.app = \(bind: .text(app)) AND f.ident = \(bind: .int(file)) AND a.app = f.app \
        RETURNING f.salt, f.user_id, f.client_version, f.server_version, f.permissions, a.salt, a.version, a.trimmed_to, \
        f.reset_reason, f.partition, f.schema_version
        """
    }

    /// Takes note of what a device wants and what its user may do.
    static func remember(
        _ app: String,
        file: Int64,
        queryVersion: Int64,
        query: String,
        permissions: String
    ) -> SQLFragment {
        """
        UPDATE tidegate.sync_files SET query_version = \(bind: .int(queryVersion)), query = \(bind: .text(query)), \
        permissions = \(bind: .text(permissions)) WHERE app = \(bind: .text(app)) AND ident = \(bind: .int(file))
        """
    }

    /// Takes note of what a device has integrated, and forgets what was kept until then.
    static func acknowledge(
        _ app: String,
        file: Int64,
        clientVersion: Int64,
        serverVersion: Int64,
        locked: Int64
    ) -> SQLFragment {
        """
        WITH gone AS (DELETE FROM tidegate.sync_reciprocal WHERE app = \(bind: .text(app)) \
        AND file = \(bind: .int(file)) AND version <= \(bind: .int(serverVersion))) \
        UPDATE tidegate.sync_files SET client_version = greatest(client_version, \(bind: .int(clientVersion))), \
        server_version = greatest(server_version, \(bind: .int(serverVersion))), \
        acknowledged = greatest(acknowledged, \(bind: .int(serverVersion))), \
        locked = greatest(locked, \(bind: .int(locked))), seen_at = now() \
        WHERE app = \(bind: .text(app)) AND ident = \(bind: .int(file))
        """
    }

    /// Locks the history of an app: version, up to which it is forgotten.
    static func lock(_ app: String) -> SQLFragment {
        "SELECT version, trimmed_to FROM tidegate.sync_apps WHERE app = \(bind: .text(app)) FOR UPDATE"
    }

    /// Locks what is known of a file: client version, server version.
    static func lockFile(_ app: String, file: Int64) -> SQLFragment {
        """
        SELECT client_version, server_version FROM tidegate.sync_files \
        WHERE app = \(bind: .text(app)) AND ident = \(bind: .int(file)) FOR UPDATE
        """
    }

    /// The newest version.
    static func version(_ app: String) -> SQLFragment {
        "SELECT version, salt FROM tidegate.sync_apps WHERE app = \(bind: .text(app))"
    }

    /// Makes a version without content the newest; devices need not be told.
    static func pass(_ app: String, to version: Int64) -> SQLFragment {
        "UPDATE tidegate.sync_apps SET version = \(bind: .int(version)) WHERE app = \(bind: .text(app))"
    }

    /// Whether changes wait to become history.
    static func isPending(_ app: String) -> SQLFragment {
        "SELECT EXISTS (SELECT FROM tidegate.sync_pending WHERE app = \(bind: .text(app)))"
    }

    /// Takes waiting changes out, in the order of the log.
    ///
    /// - Parameters:
    ///   - app: Whose.
    ///   - rows: How many at most.
    ///   - bytes: How much of documents as they are stored, which is compressed, beside the first.
    /// - Returns: The statement.
    static func takePending(_ app: String, rows: Int, bytes: Int) -> SQLFragment {
        """
        WITH n AS (SELECT app, seq FROM tidegate.sync_pending WHERE app = \(bind: .text(app)) ORDER BY seq \
        LIMIT \(bind: .int(Int64(rows)))), \
        s AS (SELECT n.app, n.seq, coalesce(pg_column_size(c.before), 0) + coalesce(pg_column_size(c.after), 0) AS size \
        FROM n LEFT JOIN tidegate.changes c USING (seq)), \
        w AS (SELECT app, seq, sum(size) OVER (ORDER BY seq) - size AS earlier FROM s), \
        d AS (DELETE FROM tidegate.sync_pending p USING w WHERE p.app = w.app AND p.seq = w.seq \
        AND w.earlier < \(bind: .int(Int64(bytes))) RETURNING p.seq) \
        SELECT c.seq, c.transaction::text, c.collection_id, c.before, c.before_shape, c.after, c.after_shape, \
        floor(extract(epoch FROM c.at) * 1000)::bigint FROM d JOIN tidegate.changes c USING (seq) ORDER BY c.seq
        """
    }

    /// The waiting changes as they are seen by a snapshot, the first of each document: collection, before, its shape, key.
    static func firstPending(_ app: String) -> SQLFragment {
        """
        SELECT DISTINCT ON (c.collection_id, c.key) c.collection_id, c.before, c.before_shape, c.key \
        FROM tidegate.sync_pending p JOIN tidegate.changes c USING (seq) WHERE p.app = \(bind: .text(app)) \
        ORDER BY c.collection_id, c.key, c.seq
        """
    }

    /// Documents by key, locked.
    static func documents(_ table: SQLIdentifier, keys: [String]) -> SQLFragment {
        "SELECT _id, doc, shape FROM \(table) WHERE _id = ANY (\(bind: .textArray(keys))) ORDER BY _id FOR UPDATE"
    }

    /// Appends to the history.
    static func append(_ app: String, _ entry: SyncHistoryEntry) -> SQLFragment {
        """
        INSERT INTO tidegate.sync_history (app, version, origin_file, client_version, target_file, made_at, changeset, rejections, \
        schema_version) \
        VALUES (\(bind: .text(app)), \(bind: .int(entry.version)), \(bind: .int(entry.originFile)), \
        \(bind: .int(entry.clientVersion)), nullif(\(bind: .int(entry.targetFile ?? 0)), 0), \(bind: .int(entry.timestamp)), \
        \(bind: .bytes(entry.changesetBytes)), nullif(\(bind: .jsonb(entry.rejectionText)), 'null'::jsonb), \
        \(bind: .int(entry.schemaVersion)))
        """
    }

    /// Appends the documents of versions, whose collections are to be looked through again where they were so with
    /// classes of other forms.
    static func append(_ app: String, _ objects: SyncObjectColumns, _ forms: [SyncedApp.Form]) -> SQLFragment
    {
        """
        WITH outdated AS (UPDATE tidegate.sync_scans s SET schema = '', position = '', is_done = false \
        FROM unnest(\(bind: .int4Array(forms.map(\.collection))), \
        \(bind: .textArray(forms.map(\.digest)))) AS f (c, digest) \
        WHERE s.app = \(bind: .text(app)) AND s.collection_id = f.c AND s.schema <> f.digest) \
        INSERT INTO tidegate.sync_history_objects (app, version, place, class, key, before, after) \
        SELECT \(bind: .text(app)), n.v, n.p, n.c, n.k, \
        CASE WHEN n.b <> '' THEN decode(n.b, 'base64') END, CASE WHEN n.a <> '' THEN decode(n.a, 'base64') END \
        FROM unnest(\(bind: .intArray(objects.versions)), \(bind: .int4Array(objects.places)), \
        \(bind: .textArray(objects.classes)), \(bind: .textArray(objects.keys)), \
        \(bind: .textArray(objects.before)), \(bind: .textArray(objects.after))) AS n (v, p, c, k, b, a)
        """
    }

    /// Calls a class otherwise in the history.
    static func rename(_ app: String, _ table: String, to name: String) -> SQLFragment {
        """
        UPDATE tidegate.sync_history_objects SET class = \(bind: .text(name)) \
        WHERE app = \(bind: .text(app)) AND class = \(bind: .text(table))
        """
    }

    /// Sets the newest version.
    static func advance(_ app: String, to version: Int64) -> SQLFragment {
        """
        WITH told AS (SELECT pg_notify('tidegate_sync', \(bind: .text(app)))) \
        UPDATE tidegate.sync_apps SET version = \(bind: .int(version)) FROM told WHERE app = \(bind: .text(app))
        """
    }

    /// A part of the history with its documents, in order; at least one version, if there is one.
    ///
    /// Rows: version, origin, client version, target, made at, changeset, rejections, class, key, before, after, version of
    /// the schemas. The
    /// changeset and the rejections stand in the first row of a version only: a version may have thousands of rows.
    ///
    /// - Parameters:
    ///   - app: Whose.
    ///   - after: The last version before it.
    ///   - through: The last version of it.
    ///   - versions: How many versions at most.
    ///   - bytes: How much of changesets and documents, beside the last version.
    /// - Returns: The statement.
    static func history(_ app: String, after: Int64, through: Int64, versions: Int, bytes: Int)
        -> SQLFragment
    {
        page(
            of: """
                t.app = \(bind: .text(app)) AND t.version > \(bind: .int(after)) AND t.version <= \(bind: .int(through)) \
                ORDER BY t.version LIMIT \(bind: .int(Int64(versions)))
                """,
            bytes: bytes
        )
    }

    /// A part of the history that a file did not make, as above: what changed one of the objects, and what is
    /// for the file alone.
    ///
    /// It is the last part if it has fewer bytes than it may: numbers of bytes are those of the database, which prints
    /// each as two.
    static func concurrent(
        _ app: String,
        file: Int64,
        after: Int64,
        through: Int64,
        classes: [String],
        keys: [String],
        bytes: Int
    ) -> SQLFragment {
        page(
            of: """
                t.app = \(bind: .text(app)) AND t.version = ANY (ARRAY( \
                SELECT o.version FROM unnest(\(bind: .textArray(classes)), \(bind: .textArray(keys))) AS n (c, k) \
                JOIN tidegate.sync_history_objects o ON o.app = \(bind: .text(app)) AND o.class = n.c AND o.key = n.k \
                WHERE o.version > \(bind: .int(after)) AND o.version <= \(bind: .int(through)) \
                UNION SELECT t.version FROM tidegate.sync_history t WHERE t.app = \(bind: .text(app)) \
                AND t.target_file = \(bind: .int(file)) AND t.version > \(bind: .int(after)) \
                AND t.version <= \(bind: .int(through)))) AND t.origin_file <> \(bind: .int(file)) \
                AND coalesce(t.target_file, \(bind: .int(file))) = \(bind: .int(file))
                """,
            bytes: bytes
        )
    }

    private static func page(of versions: SQLFragment, bytes: Int) -> SQLFragment {
        """
        SELECT h.version, h.origin_file, h.client_version, h.target_file, h.made_at, \
        CASE WHEN o.place > 0 THEN NULL ELSE h.changeset END, CASE WHEN o.place > 0 THEN NULL ELSE h.rejections END, \
        o.class, o.key, o.before, o.after, h.schema_version FROM (SELECT v.*, sum(v.size) OVER (ORDER BY v.version) - v.size AS earlier \
        FROM (SELECT t.*, octet_length(t.changeset) + coalesce((SELECT sum(coalesce(octet_length(d.before), 0) \
        + coalesce(octet_length(d.after), 0)) FROM tidegate.sync_history_objects d \
        WHERE d.app = t.app AND d.version = t.version), 0) AS size FROM tidegate.sync_history t \
        WHERE \(versions)) AS v) AS h \
        LEFT JOIN tidegate.sync_history_objects o ON o.app = h.app AND o.version = h.version \
        WHERE h.earlier < \(bind: .int(Int64(bytes))) ORDER BY h.version, o.place
        """
    }

    /// What a file's next changes must meet in another form: version, changeset.
    static func reciprocal(_ app: String, file: Int64, after: Int64) -> SQLFragment {
        """
        SELECT version, changeset FROM tidegate.sync_reciprocal WHERE app = \(bind: .text(app)) \
        AND file = \(bind: .int(file)) AND version > \(bind: .int(after))
        """
    }

    /// Keeps a version as a file's next changes must meet it.
    static func keepReciprocal(_ app: String, file: Int64, version: Int64, _ changeset: [UInt8])
        -> SQLFragment
    {
        """
        INSERT INTO tidegate.sync_reciprocal (app, file, version, changeset) VALUES (\(bind: .text(app)), \
        \(bind: .int(file)), \(bind: .int(version)), \(bind: .bytes(changeset))) \
        ON CONFLICT (app, file, version) DO UPDATE SET changeset = EXCLUDED.changeset
        """
    }

    /// Names the maker of what a transaction changes.
    static func origin(_ app: String) -> SQLFragment {
        "SELECT set_config('tidegate.origin', \(bind: .text("sync:\(app)")), true)"
    }
}

/// The documents of several versions, column by column; an absent image is an empty text.
struct SyncObjectColumns {
    var versions: [Int64] = []
    var places: [Int32] = []
    var classes: [String] = []
    var keys: [String] = []
    var before: [String] = []
    var after: [String] = []

    var isEmpty: Bool { versions.isEmpty }
}
