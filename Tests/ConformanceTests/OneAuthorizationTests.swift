import BSON
import Errors
import Foundation
import HTTPTypes
import Hummingbird
import MQL
import Postgres
import SQL
import Synchronization
import TestSupport
import Testing

@testable import HTTPGateway
@testable import Services

/// Every route and every operation asks one function whether it may; the lists come from the code, so that a
/// new route or action is tested from the day on which it is written.
@Suite("One authorization function", .postgres, .serialized)
struct OneAuthorizationTests {
    private static let marker = "hidden-7c1f9d"
    private static let path = "data_sources/mongodb-atlas/vault/Safe/rules.json"
    private static let denied = """
        {"roles": [{"name": "nobody", "apply_when": {}, "document_filters": {"read": false, "write": false},
                    "read": false, "write": false, "insert": false, "delete": false, "search": false}]}
        """
    private static let granted = """
        {"roles": [{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true},
                    "read": true, "write": true}]}
        """

    /// What every action understands: members that it does not know are ignored.
    private static let members = """
        "dataSource":"mongodb-atlas","database":"vault","collection":"Safe","filter":{"_id":1},
        "document":{"_id":2,"text":"\(marker)"},"documents":[{"_id":3,"text":"\(marker)"}],
        "update":{"$set":{"text":"changed"}},"replacement":{"text":"changed"},"upsert":true,
        "pipeline":[{"$match":{}}],"key":"text","operations":[{"updateOne":{"filter":{"_id":1},
        "update":{"$set":{"text":"changed"}}}},{"insertOne":{"document":{"_id":4,"text":"\(marker)"}}}],"projection":{"text":1,"_id":0},"sort":{"_id":1},"limit":5,"skip":0,
        "username":"x@example.com","email":"x@example.com","password":"secret-enough",
        "arguments":[{"database":"vault","collection":"Safe","query":{}}],"service":"mongodb-atlas","name":"find"
        """

    /// What the authorizer was asked, in order.
    private final class Witness: Sendable {
        private let asked = Mutex<[DataOperation]>([])
        var operations: [DataOperation] { asked.withLock { $0 } }
        var authorizer: DataAuthorizer {
            DataAuthorizer { [self] operation in asked.withLock { $0.append(operation) } }
        }
        func forget() { asked.withLock { $0.removeAll() } }
    }

    private func gateway(_ rules: String, _ witness: Witness) async throws -> GatewayInProcess {
        var files = TestApp.files.filter {
            !$0.key.hasSuffix("rules.json") && !$0.key.hasSuffix("schema.json")
        }
        files[Self.path] = rules
        let gateway = try await GatewayInProcess(
            TestDatabase.current.database,
            app: files,
            authorizer: witness.authorizer
        )
        try await gateway.database.script(
            """
            DELETE FROM vault."Safe";
            INSERT INTO vault."Safe" (doc) VALUES ('{"_id":1,"text":"\(Self.marker)"}');
            """
        )
        return gateway
    }

    private func stored(_ gateway: GatewayInProcess) async throws -> String {
        try await gateway.database.run(
            "SELECT string_agg(doc::text, ',' ORDER BY _id) FROM vault.\"Safe\""
        ).text(0, 0) ?? ""
    }

    private func token(_ gateway: GatewayInProcess) async throws -> String {
        let login = try await gateway.send(
            .post,
            "/api/client/v2.0/app/\(TestApp.clientAppID)/auth/providers/anon-user/login"
        )
        let answer = try ExtendedJSON.readDocument(Array(login.text.utf8))
        return try #require(answer["access_token"]?.string, "\(login.text)")
    }

    private func request(
        _ gateway: GatewayInProcess,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ token: String
    ) async throws -> (status: Int, text: String) {
        try await gateway.send(
            method,
            path,
            headers: [(.authorization, "Bearer \(token)"), (.contentType, "application/json")],
            body: "{\(Self.members)}"
        )
    }

    /// Method and path of every route, once for each action where the path names one; parameters filled in.
    private func requests(_ gateway: GatewayInProcess) -> [(
        method: HTTPRequest.Method, path: String, action: String?
    )] {
        var result: [(method: HTTPRequest.Method, path: String, action: String?)] = []
        for route in gateway.gateway.router().routes {
            // Parameters are written `{name}` or `:name`.
            let path = route.path.description.replacingOccurrences(of: "{", with: ":")
                .replacingOccurrences(of: "}", with: "")
            let actions: [String?] = path.contains(":action") ? OperationParser.actions : [nil]
            for action in actions {
                let filled = path.split(separator: "/").map { part in
                    switch part {
                    case ":appID": TestApp.clientAppID
                    case ":version": "v1"
                    case ":provider": "local-userpass"
                    case ":action": action ?? ""
                    default: part.hasPrefix(":") ? "65f0c0ffee0000000000aaaa" : String(part)
                    }
                }
                result.append((route.method, "/" + filled.joined(separator: "/"), action))
            }
        }
        return result
    }

    @Test("where rules deny all, no route and no action reads or changes anything, and each asks once")
    func denyAll() async throws {
        let witness = Witness()
        let gateway = try await gateway(Self.denied, witness)
        let before = try await stored(gateway)
        #expect(before.contains(Self.marker))
        let requests = requests(gateway)
        #expect(Set(requests.compactMap(\.action)) == Set(OperationParser.actions))
        for (method, path, action) in requests {
            // A route may end the session or the account, so that each has its own.
            let token = try await token(gateway)
            witness.forget()
            let answer = try await request(gateway, method, path, token)
            // Nor may it be counted.
            if action?.contains("ount") == true { #expect(answer.text == #"{"count":0}"#) }
            // Names and ids that the caller sent may come back; the document must not.
            #expect(!answer.text.contains(Self.marker), "\(method) \(path): \(answer.text)")
            #expect(try await stored(gateway) == before, "\(method) \(path) changed the data")
            let asked = witness.operations
            guard let action else {
                #expect(asked.isEmpty, "\(method) \(path): a new way to the data belongs into this test")
                continue
            }
            #expect(asked.count == 1, "\(action) asked \(asked.count) times")
            let body = try ExtendedJSON.readDocument(Array("{\(Self.members)}".utf8))
            let expected = try OperationParser.parse(action: action, body: body)
            #expect(asked.first?.namespace == expected.namespace)
            let operation = try #require(asked.first)
            #expect("\(operation.action)" == "\(expected.action)")
        }
    }

    @Test("the same requests do read and change where rules permit: the test above can fail")
    func grantAll() async throws {
        let witness = Witness()
        let gateway = try await gateway(Self.granted, witness)
        let token = try await token(gateway)
        var effective: Set<String> = []
        for action in OperationParser.actions {
            try await gateway.database.script(
                """
                DELETE FROM vault."Safe";
                INSERT INTO vault."Safe" (doc) VALUES ('{"_id":1,"text":"\(Self.marker)"}');
                """
            )
            let before = try await stored(gateway)
            let path = "/app/\(TestApp.clientAppID)/endpoint/data/v1/action/\(action)"
            let answer = try await request(gateway, .post, path, token)
            #expect(answer.status < 300, "\(action): \(answer.text)")
            if answer.text.contains(Self.marker) || answer.text == #"{"count":1}"# {
                effective.insert(action)
            }
            if try await stored(gateway) != before { effective.insert(action) }
        }
        #expect(effective == Set(OperationParser.actions))
    }

    @Test("a namespace without rules is refused by the same function, before the database is asked")
    func noRules() async throws {
        let witness = Witness()
        let gateway = try await gateway(Self.denied, witness)
        let token = try await token(gateway)
        for action in OperationParser.actions {
            witness.forget()
            let body = "{\(Self.members)}".replacingOccurrences(of: "\"Safe\"", with: "\"Elsewhere\"")
            let answer = try await gateway.send(
                .post,
                "/app/\(TestApp.clientAppID)/endpoint/data/v1/action/\(action)",
                headers: [(.authorization, "Bearer \(token)")],
                body: body
            )
            #expect(answer.status == 403, "\(action): \(answer.text)")
            #expect(witness.operations.map(\.namespace.collection) == ["Elsewhere"])
        }
        #expect(
            try await gateway.database.run("SELECT to_regclass('vault.\"Elsewhere\"') IS NULL").text(0, 0)
                == "t"
        )
    }

    /// Source files below a folder, with the text that the compiler sees.
    private static func sources(_ folder: String) throws -> [(path: String, text: String)] {
        let root = RunningServer.packageRoot.appendingPathComponent(folder)
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var result: [(path: String, text: String)] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            let code = lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            result.append((String(file.path.dropFirst(root.path.count + 1)), code))
        }
        return result
    }

    @Test("nothing else makes a plan, runs a data call or compiles a query")
    func oneWay() throws {
        // Text, and the files that may contain it: the way from a caller to the data, step by step.
        let steps: [(text: String, files: Set<String>)] = [
            (
                "RoleResolver.resolve(",
                // The admission asks rules about a request (`can_evaluate`), not about data.
                ["Services/DataServiceAuthorizer.swift", "Services/DataAPIAdmission.swift"]
            ),
            (".authorize(", ["Services/DataService.swift"]),
            (
                "plan: .system",
                // Custom user data is looked up as the system, by the caller's id, before there is a caller.
                // An explanation on the terminal is for whoever has the database.
                ["Services/DataService+CustomUserData.swift", "Services/DataServiceExplain.swift"]
            ),
            // Documents are imported by whoever has the database.
            ("prepared: .system", ["Services/DocumentImport.swift"]),
            ("PreparedPlan(.system)", ["Services/PreparedPlan.swift"]),
            ("return .system }", ["Services/DataServiceAuthorizer.swift"]),
            ("DataCall(", ["Services/DataService.swift", "Services/DocumentImport.swift"]),
            ("QueryCompiler(layout", ["Services/PreparedPlan.swift"]),
            (".execute(operation.action)", ["Services/DataService.swift"]),
        ]
        let sources = try Self.sources("Sources")
        for step in steps {
            let found = Set(sources.filter { $0.text.contains(step.text) }.map(\.path))
            #expect(found == step.files, "\(step.text)")
        }
        // The door has neither SQL nor a connection.
        for (path, text) in sources where path.hasPrefix("HTTPGateway/") {
            for name in ["import Postgres\n", "import SQL\n", "import QueryCompiler\n", "DocumentImport"] {
                #expect(!text.contains(name), "\(path) reaches past the data service")
            }
        }
    }
}
