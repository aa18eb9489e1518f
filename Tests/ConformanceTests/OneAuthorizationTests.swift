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
        "update":{"$set":{"text":"changed"}}}},{"insertOne":{"document":{"_id":4,"text":"\(marker)"}}}],"projection":{"text":1,"_id":0},
        "username":"x@example.com","email":"x@example.com","password":"secret-enough",
        "name":"x"
        """

    /// The argument of a call of the MongoDB service: the same members, but that `update` holds a replacement.
    private static func argument(_ action: String) -> String {
        action == "findOneAndReplace"
            ? members.replacingOccurrences(
                of: #""update":{"$set":{"text":"changed"}}"#,
                with: #""update":{"text":"changed"}"#
            )
            : members
    }

    /// One request of each route, and one for each action where a path or a body names one.
    private struct Sent {
        let method: HTTPRequest.Method
        let path: String
        /// The operation that it asks for; nil for routes that know of no data.
        var operation: DataOperation?
        var name = ""
        var body = "{\(OneAuthorizationTests.members)}"
    }

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

    private func request(_ gateway: GatewayInProcess, _ sent: Sent, _ token: String) async throws -> (
        status: Int, text: String
    ) {
        try await gateway.send(
            sent.method,
            sent.path,
            headers: [(.authorization, "Bearer \(token)"), (.contentType, "application/json")],
            body: sent.body
        )
    }

    /// Parameters of paths are filled in.
    private func requests(_ gateway: GatewayInProcess) throws -> [Sent] {
        var result: [Sent] = []
        for route in gateway.gateway.router().routes {
            // Parameters are written `{name}` or `:name`.
            let path = route.path.description.replacingOccurrences(of: "{", with: ":")
                .replacingOccurrences(of: "}", with: "")
            func filled(_ action: String = "") -> String {
                let parts = path.split(separator: "/").map { part in
                    switch part {
                    case ":appID": TestApp.clientAppID
                    case ":version": "v1"
                    case ":provider": "local-userpass"
                    case ":action": action
                    default: part.hasPrefix(":") ? "65f0c0ffee0000000000aaaa" : String(part)
                    }
                }
                return "/" + parts.joined(separator: "/")
            }
            let members = try ExtendedJSON.readDocument(Array("{\(Self.members)}".utf8))
            if path.contains(":action") {
                for action in OperationParser.actions {
                    let operation = try OperationParser.parse(action: action, body: members)
                    result.append(
                        Sent(method: route.method, path: filled(action), operation: operation, name: action)
                    )
                }
            } else if path.hasSuffix("/functions/call"), route.method == .post {
                for action in OperationParser.serviceActions {
                    let argument = "{\(Self.argument(action))}"
                    let operation = try OperationParser.parse(
                        serviceAction: action,
                        service: "mongodb-atlas",
                        argument: try ExtendedJSON.readDocument(Array(argument.utf8))
                    )
                    let body =
                        #"{"name":"\#(action)","service":"mongodb-atlas","arguments":[\#(argument)]}"#
                    result.append(
                        Sent(
                            method: route.method,
                            path: filled(),
                            operation: operation,
                            name: "service \(action)",
                            body: body
                        )
                    )
                }
            } else {
                result.append(Sent(method: route.method, path: filled()))
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
        let requests = try requests(gateway)
        #expect(requests.count { $0.operation != nil } == Self.operations)
        for sent in requests {
            let what = "\(sent.method) \(sent.path) \(sent.name)"
            // A route may end the session or the account, so that each has its own.
            let token = try await token(gateway)
            witness.forget()
            let answer = try await request(gateway, sent, token)
            // Nor may it be counted.
            if sent.name.contains("ount") { #expect(Self.noCount.contains(answer.text), "\(what)") }
            // Names and ids that the caller sent may come back; the document must not.
            #expect(!answer.text.contains(Self.marker), "\(what): \(answer.text)")
            #expect(try await stored(gateway) == before, "\(what) changed the data")
            let asked = witness.operations
            guard let expected = sent.operation else {
                #expect(asked.isEmpty, "\(what): a new way to the data belongs into this test")
                continue
            }
            #expect(asked.count == 1, "\(what) asked \(asked.count) times")
            #expect(asked.first?.namespace == expected.namespace)
            let operation = try #require(asked.first)
            #expect("\(operation.action)" == "\(expected.action)")
        }
    }

    private static let operations = OperationParser.actions.count + OperationParser.serviceActions.count
    private static let noCount = [#"{"count":0}"#, #"{"$numberLong":"0"}"#]
    private static let oneCount = [#"{"count":1}"#, #"{"$numberLong":"1"}"#]

    @Test("the same requests do read and change where rules permit: the test above can fail")
    func grantAll() async throws {
        let witness = Witness()
        let gateway = try await gateway(Self.granted, witness)
        let token = try await token(gateway)
        var effective: Set<String> = []
        for sent in try requests(gateway) where sent.operation != nil {
            try await gateway.database.script(
                """
                DELETE FROM vault."Safe";
                INSERT INTO vault."Safe" (doc) VALUES ('{"_id":1,"text":"\(Self.marker)"}');
                """
            )
            let before = try await stored(gateway)
            let answer = try await request(gateway, sent, token)
            #expect(answer.status < 300, "\(sent.name): \(answer.text)")
            if answer.text.contains(Self.marker) || Self.oneCount.contains(answer.text) {
                effective.insert(sent.name)
            }
            if try await stored(gateway) != before { effective.insert(sent.name) }
        }
        #expect(effective.count == Self.operations)
    }

    @Test("a namespace without rules is refused by the same function, before the database is asked")
    func noRules() async throws {
        let witness = Witness()
        let gateway = try await gateway(Self.denied, witness)
        let token = try await token(gateway)
        for var sent in try requests(gateway) where sent.operation != nil {
            witness.forget()
            sent.body = sent.body.replacingOccurrences(of: "\"Safe\"", with: "\"Elsewhere\"")
            let answer = try await request(gateway, sent, token)
            #expect(answer.status == 403, "\(sent.name): \(answer.text)")
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
                // A partition's permissions are a role of its own, in the place of its collections' roles
                // (`sync-semantics.md` §16).
                [
                    "Services/DataServiceAuthorizer.swift", "Services/RequestAdmission.swift",
                    "Services/Sync/SyncView.swift",
                ]
            ),
            (".authorize(", ["Services/DataService.swift"]),
            (
                "plan: .system",
                // Custom user data is looked up as the system, by the caller's id, before there is a caller.
                // An explanation on the terminal is for whoever has the database.
                // Triggers run as the system.
                // What a device wrote is decided object by object by the plan of its user (`SyncIntegration`), before
                // what is legal of it is stored.
                [
                    "Services/DataService+CustomUserData.swift", "Services/DataServiceExplain.swift",
                    "Services/Sync/SyncDocuments.swift", "Services/Triggers/TriggerEvent.swift",
                ]
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
        // The doors have neither SQL nor a connection.
        for (path, text) in sources where path.hasPrefix("HTTPGateway/") || path.hasPrefix("SyncBridge/") {
            for name in ["import Postgres\n", "import SQL\n", "import QueryCompiler\n", "DocumentImport"] {
                #expect(!text.contains(name), "\(path) reaches past the data service")
            }
        }
    }
}
