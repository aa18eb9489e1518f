import AppDefinition
import ArgumentParser
import BSON
import Errors
import Foundation
import MQL
import Services
import Synchronization

/// `tidegate import-documents`: a file of documents into a collection.
struct ImportDocumentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-documents",
        abstract: "Insert documents from a file: one Extended JSON document per line, or a JSON array.",
        usage: "tidegate import-documents [<app>] <file> --database <name> --collection <name> [<options>]",
        discussion: """
            The file is streamed. A bad document is named with its line, and nothing is imported then, unless
            --keep-going. Rules and schemas do not apply. Progress goes to standard error.
            """
    )

    @Argument(help: "App id or name (also --app), then the file; - is standard input.") var arguments:
        [String]
    @Option(name: .long, help: "App id or name; not needed when there is one app.") var app: String?
    @Option(name: .long, help: "Data source (default: the app's only one, or mongodb-atlas).") var source:
        String?
    @Option(name: .long, help: "Database.") var database: String
    @Option(name: .long, help: "Collection.") var collection: String
    @Flag(name: .long, help: "Leave bad documents out and insert the others.") var keepGoing = false
    @OptionGroup var connection: DatabaseOptions

    func validate() throws {
        guard (1...2).contains(arguments.count) else {
            throw ValidationError("give a file, or an app and a file")
        }
        if arguments.count == 2, app != nil { throw ValidationError("the app is given twice") }
    }

    func run() async throws {
        let path = arguments.last ?? "-"
        let input = try open(path)
        let summary = try await connection.withDatabase(connections: 4) { pool in
            let registry = AppRegistry(database: pool)
            try await registry.load()
            let snapshot = try registry.choose(app ?? (arguments.count == 2 ? arguments.first : nil))
            let namespace = Namespace(
                dataSource: try dataSource(of: snapshot),
                database: database,
                collection: collection
            )
            let data = DataService(
                database: pool,
                catalog: CollectionCatalog(database: pool),
                ids: .random(),
                now: Composition.milliseconds
            )
            let options = DocumentImport.Options(
                keepsGoing: keepGoing,
                progress: progress,
                report: { printToError("line \($0.line): \($0.reason)") }
            )
            return try await DocumentImport(database: pool, data: data).run(into: namespace, options: options)
            {
                try input.read(upToCount: 1 << 20).map { [UInt8]($0) }.flatMap { $0.isEmpty ? nil : $0 }
            }
        }
        let left = summary.refused > 0 ? ", \(summary.refused) left out" : ""
        print("\(summary.inserted) documents imported into \(database).\(collection)\(left)")
        if summary.refused > 0 { throw ExitCode(1) }
    }

    /// Says how far it is, once a second.
    private var progress: @Sendable (Int) -> Void {
        let last = Mutex(ContinuousClock.now)
        return { documents in
            let isDue = last.withLock { last in
                guard last.duration(to: .now) >= .seconds(1) else { return false }
                last = .now
                return true
            }
            if isDue { printToError("\(documents) documents") }
        }
    }

    private func open(_ path: String) throws -> FileHandle {
        if path == "-" { return .standardInput }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ServiceError(.invalidSetting, "\(path) cannot be read")
        }
        return file
    }

    private func dataSource(of app: AppSnapshot) throws -> String {
        let names = app.definition.dataSources.map(\.name)
        if let source {
            guard names.contains(source) else {
                throw ServiceError(.serviceNotFound, "the app has no data source '\(source)'")
            }
            return source
        }
        if names.count == 1, let only = names.first { return only }
        if names.contains("mongodb-atlas") { return "mongodb-atlas" }
        throw ServiceError(.invalidSetting, "name the data source with --source")
    }
}
