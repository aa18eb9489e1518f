import BSON
import Errors
import MQL
import Testing

@Suite("watch: argument → operation")
struct WatchParserTests {
    private func parse(_ members: String) throws -> WatchArguments {
        let body = "{database:'d',collection:'c'\(members.isEmpty ? "" : ",")\(members)}"
        let operation = try OperationParser.parseWatch(MQLText.document(body.json), service: "s")
        #expect(operation.namespace == Namespace(dataSource: "s", database: "d", collection: "c"))
        #expect(!operation.action.mayWrite)
        guard case .watch(let arguments) = operation.action else { return WatchArguments() }
        return arguments
    }

    @Test("reads its members, and takes null for absent")
    func members() throws {
        let all = try parse("")
        #expect(all.ids == nil && all.filter == .all && all.pipeline == nil && all.resumeToken == nil)
        let nulls = try parse("ids:null,filter:null,pipeline:null,resumeAfter:null,useCompactEvents:false")
        #expect(nulls.ids == nil && nulls.filter == .all && nulls.pipeline == nil)
        let full = try parse(
            "ids:[1,'a'],filter:{operationType:'insert'},pipeline:[{$match:{a:1}},{$unset:'b'}],startAfter:{_data:'x'}"
        )
        #expect(full.ids?.count == 2 && full.filter != .all && full.pipeline?.stages.count == 2)
        #expect(full.resumeToken == "x")
    }

    @Test(
        "refuses by name",
        arguments: [
            ("ids:1", "'ids' must be an array"), ("filter:1", "'filter' must be an object"),
            ("pipeline:{}", "'pipeline' must be an array"),
            ("pipeline:[1]", "'pipeline[0]' must be an object"),
            ("pipeline:[{$sort:{a:1}}]", "$sort is not permitted in a $changeStream pipeline"),
            ("pipeline:[{$out:'x'}]", "$out is not permitted in a $changeStream pipeline"),
            ("useCompactEvents:true", "'useCompactEvents' must be false: compact events are not served"),
            ("resumeAfter:1", "'resumeAfter' must be an object"),
            ("resumeAfter:{_data:1}", "'resumeAfter' must be the _id of an event"),
            (
                "resumeAfter:{_data:'a'},startAfter:{_data:'a'}",
                "'startAfter' must not stand beside 'resumeAfter'"
            ),
        ]
    )
    func refusals(members: String, text: String) {
        let error = #expect(throws: ServiceError.self) { try parse(members) }
        #expect(error?.message == text)
    }
}
