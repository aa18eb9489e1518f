import BSON
import Errors
import MQL
import QueryCompiler
import Rules
import SQL

/// Bodies of the Data API: whatever parses can be evaluated and compiled.
struct QuerySubject: FuzzSubject {
    let name = "query"
    private let compilers: [QueryCompiler]

    init() throws {
        let layout = try CollectionLayout(id: 1, schema: "fuzz", name: "Items", promoted: Array("{}".utf8))
        compilers = [
            QueryCompiler(layout: layout, plan: .system),
            QueryCompiler(layout: layout, plan: try RulesSubject.plan(RulesSubject.ownerRules)),
        ]
    }

    func run(_ input: [UInt8]) throws -> Bool {
        guard var body = try attempt({ () throws(ServiceError) in try ExtendedJSON.readDocument(input) }),
            let action = body["action"]?.string
        else { return false }
        body["action"] = nil
        body["dataSource"] = "mongodb-atlas"
        body["database"] = "fuzz"
        body["collection"] = "Items"
        guard
            let operation = try attempt({ () throws(ServiceError) in
                try OperationParser.parse(action: action, body: body)
            })
        else { return false }
        try evaluate(operation.action)
        for compiler in compilers { try compile(operation.action, compiler) }
        return true
    }

    private func evaluate(_ action: DataAction) throws {
        let context = EvaluationContext(
            now: 1_700_000_000_123,
            seed: 1,
            meter: EvaluationMeter(limit: 200_000)
        )
        for document in SampleDocuments.all {
            _ = try attempt { () throws(ServiceError) in
                switch action {
                case .find(let arguments), .findOne(let arguments):
                    guard try arguments.filter.matches(document, context) else { return }
                    let shown = try arguments.projection?.apply(document, filter: arguments.filter, context)
                    _ = shown.map { ExtendedJSON.canonical($0) }
                case .updateOne(let arguments), .updateMany(let arguments):
                    guard try arguments.filter.matches(document, context) else { return }
                    let after = try arguments.update.apply(
                        to: document,
                        filter: arguments.filter,
                        isUpsertInsert: false,
                        context
                    )
                    _ = try StoredForm.text(after)
                case .deleteOne(let filter), .deleteMany(let filter):
                    _ = try filter.matches(document, context)
                case .aggregate(let pipeline): _ = try pipeline.run([document], context)
                case .insertOne(let new): _ = try StoredForm.text(new)
                case .insertMany(let many): for new in many.documents { _ = try StoredForm.text(new) }
                case .count(let arguments): _ = try arguments.filter.matches(document, context)
                case .distinct(let arguments): _ = arguments.key.distinctValues(in: document)
                case .findAndModify(let arguments): _ = try arguments.filter.matches(document, context)
                case .estimatedCount, .bulkWrite, .watch, .explain: break
                }
            }
        }
        _ = try attempt { () throws(ServiceError) in
            switch action {
            case .find(let arguments): _ = arguments.sort?.sorted(SampleDocuments.all)
            case .aggregate(let pipeline): _ = try pipeline.run(SampleDocuments.all, context)
            case .updateOne(let arguments):
                _ = try arguments.update.upsertDocument(filter: arguments.filter, context) {
                    ObjectID(seconds: 1, unique: 1)
                }
            default: break
            }
        }
    }

    private func compile(_ action: DataAction, _ compiler: QueryCompiler) throws {
        switch action {
        case .find(let arguments), .findOne(let arguments): _ = compiler.find(arguments).statement()
        case .updateOne(let arguments):
            _ = compiler.update(arguments, many: false, now: 1)
            _ = compiler.candidate(arguments.filter)
        case .updateMany(let arguments):
            _ = compiler.update(arguments, many: true, now: 1)
            _ = compiler.candidates(arguments.filter, after: nil, limit: 5, locks: true)
        case .deleteOne(let filter): _ = compiler.delete(filter, many: false)
        case .deleteMany(let filter): _ = compiler.delete(filter, many: true)
        case .aggregate(let pipeline): _ = compiler.aggregate(pipeline)
        case .count(let arguments): _ = compiler.count(arguments)
        case .estimatedCount: _ = compiler.estimatedCount()
        case .distinct(let arguments):
            _ = compiler.distinct(arguments, most: 5)
        case .findAndModify(let arguments):
            _ = compiler.lockedCandidate(arguments.filter, sort: arguments.sort)
        case .insertOne, .insertMany, .bulkWrite, .watch, .explain: break
        }
    }
}

/// Documents of many types and shapes.
enum SampleDocuments {
    static let all: [BSONDocument] = texts.compactMap { try? ExtendedJSON.document($0) }

    static let texts = [
        #"{"_id":1,"owner":"ann","a":1,"b":{"c":[1,2,{"d":"x"}]},"t":["red","blue"],"n":null}"#,
        #"{"_id":"two","owner":"bob","a":"text","b":[{"c":1},{"c":2},3],"d":{"$date":"2024-02-29T12:00:00Z"}}"#,
        #"{"_id":{"$oid":"65f0c0ffee0000000000aaaa"},"owner":"ann","a":{"$numberDecimal":"1.50"},"b":{},"t":[]}"#,
        #"{"_id":{"k":1},"a":{"$numberLong":"9223372036854775807"},"b":{"c":{"c":{"c":[[1],[2]]}}},"x.y":1}"#,
        #"{"_id":{"$numberDouble":"-0.0"},"a":[1,[2,[3]]],"b":{"$binary":{"base64":"AAEC","subType":"00"}},"f":true}"#,
        #"{"_id":{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"},"a":{"$numberDouble":"NaN"},"t":"red","e":"é🙂"}"#,
    ]
}
