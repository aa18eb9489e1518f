import ArgumentParser
import BSON
import Errors
import Foundation
import Hummingbird
import MQL
import Observability
import Postgres
import Scripting
import Services
import TestSupport
import Testing

@testable import HTTPGateway
@testable import tidegate

/// Routes, codes and settings are one set in code, in `openapi/` and in the README.
@Suite("The contract")
struct ContractTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: RunningServer.packageRoot.appendingPathComponent(path), encoding: .utf8)
    }

    /// `METHOD path` of an OpenAPI document, with parameters as `{}`.
    private static func documentedRoutes(_ file: String) throws -> Set<String> {
        var routes: Set<String> = []
        var path: String?
        for line in try text("openapi/\(file)").split(separator: "\n") {
            if line.hasPrefix("components:") { break }
            if line.hasPrefix("  /"), line.hasSuffix(":") {
                path = String(line.dropFirst(2).dropLast())
            } else if let path,
                ["    get:", "    post:", "    put:", "    patch:", "    delete:"].contains(String(line))
            {
                routes.insert("\(line.dropFirst(4).dropLast().uppercased()) \(anonymous(path))")
            }
        }
        return routes
    }

    /// `/app/{appId}/…` and `/app/:appID/…` are one route.
    private static func anonymous(_ path: String) -> String {
        path.split(separator: "/").map { part in
            part.hasPrefix("{") || part.hasPrefix(":") || part == "**" ? "{}" : String(part)
        }.joined(separator: "/")
    }

    /// A gateway that is never called: its database is not connected to.
    private static func gateway() -> HTTPGateway {
        let database = Database(settings: PostgresSettings(connectionString: "host=/nowhere"))
        let apps = AppRegistry(database: database)
        let ids = ObjectIDGenerator(processUnique: 1, counter: 1)
        let data = DataService(
            database: database,
            catalog: CollectionCatalog(database: database),
            ids: ids,
            now: { 0 }
        )
        let accounts = AccountService(
            database: database,
            apps: { _ in nil },
            ids: ids,
            fetchKeys: { _ in [] },
            now: { 0 }
        )
        return HTTPGateway(
            apps: apps,
            accounts: accounts,
            data: data,
            watches: WatchService(database: database, apps: apps, data: data, now: { 0 }),
            functions: FunctionService(accounts: accounts, data: data, scripts: ScriptPool(command: [])),
            settings: GatewaySettings(),
            observer: Observer { _ in },
            requestIDs: ids,
            health: { false }
        )
    }

    @Test("names every route that is served, and no other")
    func routes() throws {
        var documented = try Self.documentedRoutes("data-api.yaml")
        documented.formUnion(try Self.documentedRoutes("client-api.yaml"))
        var served: Set<String> = []
        for route in Self.gateway().router().routes {
            let path = Self.anonymous(route.path.description)
            // One route serves all actions, and one would serve all providers' registrations.
            if path.hasSuffix("/action/{}") {
                for action in OperationParser.actions { served.insert("POST \(path.dropLast(2))\(action)") }
            } else if let range = path.range(of: "/providers/{}/"), !path.hasSuffix("/login") {
                served.insert(
                    "POST \(path.replacingCharacters(in: range, with: "/providers/local-userpass/"))"
                )
            } else {
                served.insert("\(route.method.rawValue) \(path)")
            }
        }
        #expect(documented.subtracting(served) == [], "documented, and not served")
        #expect(served.subtracting(documented) == [], "served, and not documented")
    }

    @Test("names every error code that can reach a caller")
    func codes() throws {
        var documented: Set<String> = []
        for file in ["data-api.yaml", "client-api.yaml"] {
            let section = try Self.text("openapi/\(file)").components(separatedBy: "    ErrorCode:\n")[1]
            for line in section.split(separator: "\n") where line.hasPrefix("        - ") {
                documented.insert(String(line.dropFirst(10)))
            }
        }
        let inside: Set<ErrorCode> = [.invalidAppDefinition, .invalidSetting, .migrationDrift]
        let bare: Set<ErrorCode> = [.appNotFound, .endpointNotFound, .apiKeyInUse]
        let known = Set(ErrorCode.allCases).subtracting(inside).subtracting(bare).map(\.rawValue)
        #expect(documented.subtracting(known) == [], "documented, and not known")
        #expect(Set(known).subtracting(documented) == [], "known, and not documented")
    }

    @Test("documents every setting, as a flag and in the README")
    func settings() throws {
        let readme = try Self.text("README.md")
        let flags = ServerOptions.helpMessage(columns: 200)
        for setting in Setting.all {
            #expect(flags.contains("--\(setting.name) "), "\(setting.name) has no flag")
            let row = "| `--\(setting.name)` | `\(setting.environmentName)` |"
            #expect(readme.contains(row), "\(setting.name)")
            if let value = setting.defaultValue, !value.isEmpty {
                #expect(readme.contains("`\(setting.environmentName)` | `\(value)` |"), "\(setting.name)")
            }
        }
        let rows = readme.split(separator: "\n").filter { $0.hasPrefix("| `--") && $0.contains("TIDEGATE_") }
        #expect(rows.count == Setting.all.count)
    }

    @Test("shows an example of every action that can be sent as it stands")
    func examples() throws {
        let json = OpenAPIDocument.json(try Self.text("openapi/data-api.yaml"))
        let paths = try #require(try ExtendedJSON.readDocument(json)["paths"]?.document)
        for action in OperationParser.actions {
            let path = "/app/{appId}/endpoint/data/{version}/action/\(action)"
            var value = paths[path]
            for step in ["post", "requestBody", "content", "application/ejson", "example"] {
                value = value?.document?[step]
            }
            let example = try #require(value?.document, "\(action)")
            _ = try OperationParser.parse(action: action, body: example)
        }
    }

    @Test("lets no text but a literal become SQL")
    func sqlText() throws {
        let sources = RunningServer.packageRoot.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            guard !file.path.hasSuffix("SQL/SQLFragment.swift") else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("SQLFragment(stringLiteral:"), "\(file.path)")
        }
    }
}
