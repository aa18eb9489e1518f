import Foundation
import TestSupport
import Testing

/// `operators-day.sql`, run as an administrator's login against a server that runs.
@Suite("An operator's day in psql")
struct OperatorsDayTests {
    private static let app = [
        "realm_config.json": #"{"app_id": "day-abcde", "config_version": 20210101, "name": "day"}"#,
        "auth/providers.json": """
        {"api-key": {"name": "api-key", "type": "api-key", "disabled": false},
         "local-userpass": {"name": "local-userpass", "type": "local-userpass", "disabled": false,
                            "config": {"autoConfirm": true}}}
        """,
        "data_sources/mongodb-atlas/config.json": #"{"name": "mongodb-atlas", "type": "mongodb-atlas"}"#,
        "data_sources/mongodb-atlas/day/notes/rules.json": """
        {"roles": [{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true},
                    "read": true, "write": true}]}
        """,
        "data_sources/mongodb-atlas/day/notes/schema.json":
            #"{"title": "note", "bsonType": "object", "properties": {"text": {"bsonType": "string"}}}"#,
    ]

    private func directory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidegate-day-\(UUID().uuidString)")
        for (path, text) in Self.app {
            let file = directory.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        return directory
    }

    @Test("needs no other tool, and every step shows what the operator wanted")
    func day() async throws {
        let server = try await SharedServer.caller().server
        try Shell.psql(
            server.database,
            script: """
                create role day_operator login in role tidegate_admin;
                insert into tidegate.logs (at, type, app, method, route, status, duration_ms, database_ms, statements,
                    request_id)
                values (now() - interval '40 days', 'API', 'day-abcde', 'GET', '/', 200, 1, 1, 1, 'old');
                """
        )
        let directory = try directory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let script = RunningServer.packageRoot
            .appendingPathComponent("Tests/IntegrationTests/Administration/operators-day.sql")
        let database = server.database(as: "day_operator")
        let output = try Shell.psql(
            database,
            script: String(contentsOf: script, encoding: .utf8),
            variables: [
                "http": server.http, "tidegate": RunningServer.binary.path, "directory": directory.path,
                "database": database,
            ]
        )
        let steps = output.components(separatedBy: "\n-- ").map { $0.split(separator: "\n").map(String.init) }
        func expect(_ step: Int, _ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) {
            for line in lines {
                #expect(
                    steps.indices.contains(step) && steps[step].contains { $0.contains(line) },
                    "\(line) in:\n\(output)",
                    sourceLocation: sourceLocation
                )
            }
        }
        #expect(!output.contains("in vain"), "\(output)")
        expect(0, "day|day-abcde")
        expect(1, #"{"insertedId":1}"#, "nightly|f", "1|hello")
        expect(2, "insert not permitted", #"{"document":{"_id":1,"text":"hello"}}"#)
        expect(3, "%%user.name", #"{"document":{"_id":1,"text":"hello"}}"#)
        expect(
            4,
            #"{"document":{"_id":1,"text":"hello"}}"#,
            "local-userpass|open",
            "error_code",
            "UserDisabled"
        )
        expect(4, "local-userpass|revoked")
        expect(5, "|insertOne|day.notes|reader", "t")
        expect(6, "insertOne|t", "day|notes|t")
        expect(7, "t", "0")
        expect(8, "error_code")
        try Shell.psql(server.database, "select tidegate.drop_app('day')")
        try Shell.psql(server.database, "drop role day_operator")
    }
}
