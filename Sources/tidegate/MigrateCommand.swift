import ArgumentParser
import Migrations

/// `tidegate migrate`: bring the database's schema up to date.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Apply the schema changes that are due.",
        discussion: "With --status nothing is changed; the exit code is 1 when something is due."
    )

    @Flag(name: .long, help: "Only show what is applied and what is due.") var status = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let isDue = try await database.withDatabase { database in
            let migrator = Migrator(database: database)
            if status {
                let plan = try await migrator.status()
                for migration in plan.applied { print("applied  \(label(migration.number, migration.name))") }
                for migration in plan.due { print("due      \(label(migration.number, migration.name))") }
                return !plan.due.isEmpty
            }
            let applied = try await migrator.migrate { migration, duration in
                print("applied  \(label(migration.number, migration.name)) in \(duration)")
            }
            if applied.isEmpty { print("up to date") }
            return false
        }
        if isDue { throw ExitCode(1) }
    }

    private func label(_ number: Int, _ name: String) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "_" + name
    }
}
