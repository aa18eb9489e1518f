import Foundation
import TestSupport
import Testing

@Suite("A watched directory", .timeLimit(.minutes(30)))
struct AppWatchTests {
    @Test("check names the file and the line of what does not parse")
    func check() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "check-\(UUID().uuidString)"
        )
        let functions = folder.appendingPathComponent("functions")
        try FileManager.default.createDirectory(at: functions, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = [
            "realm_config.json": #"{"config_version": 20210101, "name": "checked"}"#,
            "functions/good.js": "exports = () => 1;",
            "functions/bad.js": "exports = () => {\n  return 300 +;\n};",
        ]
        for (path, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(path)) }
        let result = try await Shell.finish(RunningServer.binary, ["check", folder.path])
        #expect(result.status == 1)
        #expect(result.output.contains("error: functions/bad.js: line 2, column 15: "), "\(result.output)")
        #expect(!result.output.contains("functions/good.js: line"))
    }

    @Test("dev and import refuse it, too, with file, line and column, and nothing is served or stored")
    func refused() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "refused-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("app/functions"),
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        // The private PostgreSQL runs as somebody else.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let app = folder.appendingPathComponent("app")
        let files = [
            "realm_config.json": #"{"config_version": 20210101, "name": "refused"}"#,
            "functions/bad.js": "exports = () => {\n  return 300 +;\n};",
        ]
        for (path, text) in files { try Data(text.utf8).write(to: app.appendingPathComponent(path)) }
        let dev = try await Shell.finish(
            RunningServer.binary,
            [
                "dev", "--data-dir", folder.appendingPathComponent("data").path, "--app", app.path, "--port",
                "0",
                "--https-port", "0", "--admin-port", "0",
            ]
        )
        #expect(dev.status != 0)
        #expect(
            (dev.output + dev.errors).contains("functions/bad.js: line 2, column 15: "),
            "\(dev.output)\(dev.errors)"
        )
        let database = try await FunctionServer.caller().server.database
        let imported = try await Shell.finish(
            RunningServer.binary,
            ["import", app.path, "--database-url", database]
        )
        #expect(imported.status == 1)
        #expect(
            imported.output.contains("error: functions/bad.js: line 2, column 15: "),
            "\(imported.output)"
        )
        #expect(try Shell.psql(database, "select count(*) from tidegate.apps where name = 'refused'") == "0")
    }

    @Test(
        "a changed function is served without a word; one that does not parse is not, and the reason is told"
    )
    func reload() async throws {
        let server = try await RunningServer.start(
            app: [
                "realm_config.json":
                    #"{"app_id": "watched-abcde", "config_version": 20210101, "name": "watched"}"#,
                "auth/providers.json":
                    #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
                "functions/config.json": #"[{"name": "answer", "private": false}]"#,
                "functions/answer.js": "exports = () => 1;",
            ],
            name: "watched"
        )
        let api = APICaller(server: server, app: "watched-abcde")
        let user = try await api.newUser()
        let source = server.directory.appendingPathComponent("app/functions/answer.js")
        func write(_ text: String) throws { try Data(text.utf8).write(to: source) }
        func log() throws -> String {
            try String(contentsOf: server.directory.appendingPathComponent("server.log"), encoding: .utf8)
        }
        #expect(try await api.call("answer", as: user).text == #"{"$numberInt":"1"}"#)
        try write("exports = () => 20;")
        try await eventually { try await api.call("answer", as: user).text == #"{"$numberInt":"20"}"# }
        try await eventually {
            try log().contains("reloaded, version ") && log().contains("~ functions/answer.js")
        }
        try write("exports = () => {\n  return 300 +;\n};")
        try await eventually { try log().contains("functions/answer.js: line 2") }
        #expect(try await api.call("answer", as: user).text == #"{"$numberInt":"20"}"#)
        try write("exports = () => 4000;")
        try await eventually { try await api.call("answer", as: user).text == #"{"$numberInt":"4000"}"# }
    }
}
