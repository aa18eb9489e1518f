import ArgumentParser
import Errors
import Foundation
import Services

/// `tidegate import-users`: users of another server, with their ids.
struct ImportUsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-users",
        abstract: "Take users over from a file: one Extended JSON document per line, or a JSON array.",
        usage: "tidegate import-users [<app>] <file> [<options>]",
        discussion: """
            A user is {"_id", "identities": [{"id", "provider_type", "provider_data"}], "password_hash", "disabled",
            "data", "custom_data"}, as the hosted service's administration API listed it, or
            {"_id", "email", "password_hash"}. Hashes are bcrypt, scrypt or PBKDF2; without one the user sets a
            password by mail. A bad user is named with its line, and nobody is imported then, unless --keep-going.
            """
    )

    @Argument(help: "App id or name (also --app), then the file; - is standard input.") var arguments:
        [String]
    @Option(name: .long, help: "App id or name; not needed when there is one app.") var app: String?
    @Flag(name: .long, help: "Leave bad users out and import the others.") var keepGoing = false
    @OptionGroup var connection: DatabaseOptions

    func validate() throws {
        guard (1...2).contains(arguments.count) else {
            throw ValidationError("give a file, or an app and a file")
        }
        if arguments.count == 2, app != nil { throw ValidationError("the app is given twice") }
    }

    func run() async throws {
        let path = arguments.last ?? "-"
        guard let input = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path) else {
            throw ServiceError(.invalidSetting, "\(path) cannot be read")
        }
        let summary = try await connection.withDatabase(connections: 4) { pool in
            let registry = AppRegistry(database: pool)
            try await registry.load()
            let snapshot = try registry.choose(app ?? (arguments.count == 2 ? arguments.first : nil))
            let data = DataService(
                database: pool,
                catalog: CollectionCatalog(database: pool),
                ids: .random(),
                now: Composition.milliseconds
            )
            let users = UserImport(database: pool, data: data, app: snapshot)
            return try await users.run(
                keepsGoing: keepGoing,
                report: { printToError("line \($0.line): \($0.reason)") }
            ) {
                try input.read(upToCount: 1 << 20).map { [UInt8]($0) }.flatMap { $0.isEmpty ? nil : $0 }
            }
        }
        let left = summary.refused > 0 ? ", \(summary.refused) left out" : ""
        print("\(summary.imported) users imported\(left)")
        if summary.refused > 0 { throw ExitCode(1) }
    }
}
