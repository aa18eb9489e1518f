import ArgumentParser
import Postgres
import SQL
import Services

/// `tidegate build-indexes`: build the indexes that wait.
struct BuildIndexesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "build-indexes",
        abstract: "Build the indexes on large collections that create_index left waiting.",
        discussion: """
            Readers and writers go on meanwhile. The login has to be a member of tidegate_owner; a gateway with such \
            a login builds them by itself. tidegate.list_indexes tells what became of them.
            """
    )

    @OptionGroup var connection: DatabaseOptions

    func run() async throws {
        let tried = try await connection.withDatabase { database in
            let rights = try await database.run("SELECT pg_has_role(session_user, 'tidegate_owner', 'USAGE')")
            guard rights.text(0, 0) == "t" else {
                throw ValidationError("this login is not a member of tidegate_owner")
            }
            let settings = try connection.settings()
            return await IndexMaintenance(database: database, settings: settings).buildAll()
        }
        print(tried == 1 ? "1 build" : "\(tried) builds")
    }
}
