import SQL

/// All SQL about the table of migrations, and its row decoding.
enum MigrationStatements {
    static let tableExists: SQLFragment = "SELECT to_regclass('tidegate.migrations') IS NOT NULL"

    static let mayRead: SQLFragment =
        "SELECT has_table_privilege(to_regclass('tidegate.migrations'), 'SELECT')"

    /// Run before each migration, in its transaction.
    ///
    /// A migration may take long, and waits for others to finish theirs; the lock's key is `tidegate` in
    /// ASCII.
    static let preparation: [SQLFragment] = [
        "SET LOCAL statement_timeout = 0",
        "SELECT pg_advisory_xact_lock(8388071107925202021)",
        "CREATE SCHEMA IF NOT EXISTS tidegate",
        """
        CREATE TABLE IF NOT EXISTS tidegate.migrations (
            number integer PRIMARY KEY,
            name text NOT NULL,
            checksum text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
        )
        """,
    ]

    static let applied: SQLFragment = "SELECT number, name, checksum FROM tidegate.migrations ORDER BY number"

    static let resetPath: SQLFragment = "SET LOCAL search_path = pg_catalog"

    static func record(_ migration: Migration) -> SQLFragment {
        """
        INSERT INTO tidegate.migrations (number, name, checksum)
        VALUES (\(bind: .int4(Int32(clamping: migration.number))), \(bind: .text(migration.name)),
            \(bind: .text(migration.checksum)))
        """
    }

    static func decode(_ rows: ResultSet) -> [MigrationPlan.Applied] {
        (0..<rows.rowCount).compactMap { row in
            guard let number = rows.int(row, 0), let name = rows.text(row, 1),
                let checksum = rows.text(row, 2)
            else { return nil }
            return MigrationPlan.Applied(number: number, name: name, checksum: checksum)
        }
    }
}
