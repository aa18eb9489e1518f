import BSON
import Errors
import MQL
import QueryCompiler
import Rules
import SQL

/// What a request costs between its bytes and its statement, and back, without sockets or a database:
/// parse → compile → encode, many times over, for `Tests/Benchmarks/instructions.sh` to count instructions.
@main
struct HotPath {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let rounds = Int(arguments[2]), let work = try works()[arguments[1]]
        else {
            print("usage: hot-path find-one|find-20|update-one|insert-one|resolve ROUNDS")
            return
        }
        var bytes = 0
        for _ in 0..<rounds { bytes &+= try work() }
        print("\(arguments[1]): \(rounds) rounds, \(bytes) bytes")
    }

    private static let rules = """
        {"database": "bench", "collection": "tasks", "roles": [{"name": "owner", "apply_when": {},
        "document_filters": {"read": {"owner_id": "%%user.id"}, "write": {"owner_id": "%%user.id"}},
        "read": true, "write": true, "insert": true, "delete": true}]}
        """
    private static let promoted = """
        [{"path": "owner_id", "type": "string", "column": "owner_id", "rest": "owner_id[]"}]
        """
    private static let stored = """
        {"_id": "d5b584bdf992e309842ba1e0", "owner_id": "6b01593de48ad208c1ecadaa", "text": "bread tickets",
        "status": "open", "priority": 4, "tags": ["work"], "created_at": "2024-01-01T00:00:00.255Z"}
        """
    private static let namespace = #""dataSource":"mongodb-atlas","database":"bench","collection":"tasks""#

    /// What can be counted; each answers how many bytes it made, so that nothing is optimised away.
    private static func works() throws -> [String: () throws -> Int] {
        let parsed = RulesParser.parse(try ExtendedJSON.readDocument(Array(rules.utf8)))
        let context = RuleContext(user: RuleUser(id: "6b01593de48ad208c1ecadaa"))
        let plan = try RoleResolver.resolve(rules: parsed.rules, schema: nil, context: context)
        let layout = try CollectionLayout(
            id: 1,
            schema: "bench",
            name: "tasks",
            promoted: Array(promoted.utf8)
        )
        let compiler = QueryCompiler(layout: layout, plan: plan)
        let row = Array(stored.utf8)
        let findOne = Array("{\(namespace),\"filter\":{\"_id\":\"d5b584bdf992e309842ba1e0\"}}".utf8)
        let find20 = Array(
            "{\(namespace),\"filter\":{\"status\":\"done\"},\"sort\":{\"_id\":1},\"limit\":20}".utf8
        )
        let update = Array(
            "{\(namespace),\"filter\":{\"_id\":\"d5b584bdf992e309842ba1e0\"},\"update\":{\"$set\":{\"text\":\"x\"}}}"
                .utf8
        )
        let insert = Array("{\(namespace),\"document\":\(stored)}".utf8)
        return [
            "find-one": { try find(findOne, "findOne", compiler, row, rows: 1) },
            "find-20": { try find(find20, "find", compiler, row, rows: 20) },
            "update-one": {
                guard case .updateOne(let arguments) = try operation(update, "updateOne"),
                    let statement = compiler.update(arguments, many: false, now: 0)?.direct
                else { return 0 }
                return statement.template.count
            },
            "insert-one": {
                guard case .insertOne(let document) = try operation(insert, "insertOne"),
                    let id = document["_id"],
                    plan.denial(of: .insert, before: nil, after: document) == nil
                else { return 0 }
                var bytes: [UInt8] = []
                try StoredForm.write(document, to: &bytes)
                let new = NewRow(key: try TypedKey.text(id), document: bytes, shape: 1)
                return compiler.insert(new).template.count + bytes.count
            },
            "resolve": {
                let plan = try RoleResolver.resolve(rules: parsed.rules, schema: nil, context: context)
                return plan.readsWholeDocuments ? 1 : 0
            },
        ]
    }

    private static func operation(_ body: [UInt8], _ action: String) throws -> DataAction {
        try OperationParser.parse(action: action, body: try ExtendedJSON.readDocument(body)).action
    }

    private static func find(
        _ body: [UInt8],
        _ action: String,
        _ compiler: QueryCompiler,
        _ row: [UInt8],
        rows: Int
    ) throws -> Int {
        switch try operation(body, action) {
        case .find(let arguments), .findOne(let arguments):
            let statement = compiler.find(arguments).statement()
            var out: [UInt8] = []
            for _ in 0..<rows { try StoredForm.transcode(row[...], shape: nil, to: .plain, into: &out) }
            return out.count + statement.template.count
        default: return 0
        }
    }
}
