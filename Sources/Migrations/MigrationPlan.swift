public import Errors

/// Which migrations are due: those available, set against those applied.
///
/// Pure.
public struct MigrationPlan: Sendable {
    /// What the database remembers of a migration.
    public struct Applied: Sendable, Hashable {
        /// Its number.
        public let number: Int
        /// Its name.
        public let name: String
        /// The checksum of the text that was applied.
        public let checksum: String

        /// A row of `tidegate.migrations`.
        public init(number: Int, name: String, checksum: String) {
            self.number = number
            self.name = name
            self.checksum = checksum
        }
    }

    /// What the database has, by number.
    public let applied: [Applied]
    /// What is still to be applied, in order.
    public let due: [Migration]

    /// Compares what is available with what is applied.
    ///
    /// - Throws: `migrationDrift`, naming every difference, when an applied migration has another text or name
    ///   now, is unknown (the database is newer than the program), or when one that is due comes before one that
    ///   is applied.
    public init(available: [Migration], applied: [Applied]) throws(ServiceError) {
        let known = Dictionary(available.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let done = Set(applied.map(\.number))
        let newest = done.max() ?? 0
        var faults: [String] = []
        for row in applied.sorted(by: { $0.number < $1.number }) {
            let label = "\(row.number) (\(row.name))"
            guard let file = known[row.number] else {
                faults.append(
                    "migration \(label) is applied but unknown: the database is newer than the program"
                )
                continue
            }
            if file.name != row.name {
                faults.append("migration \(label) is called \(file.name) now")
            } else if file.checksum != row.checksum {
                faults.append("migration \(label) was changed after it had been applied")
            }
        }
        let due = available.filter { !done.contains($0.number) }.sorted { $0.number < $1.number }
        for file in due where file.number < newest {
            faults.append("migration \(file.number) (\(file.name)) comes before one that is applied")
        }
        guard faults.isEmpty else {
            throw ServiceError(
                .migrationDrift,
                "the database and the migrations disagree: \(known: faults.joined(separator: "; "))"
            )
        }
        self.applied = applied.sorted { $0.number < $1.number }
        self.due = due
    }
}
