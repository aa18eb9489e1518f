import ArgumentParser
import BSON
import Errors
import MQL
import Services

/// `tidegate explain`: how a find or an aggregation would be done.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show how a find or an aggregation is done: what SQL decides, the statement, the plan.",
        discussion: """
            Prints one JSON document. Each condition of the filter has a grade: exact, SQL decides it; superset, SQL \
            narrows and the gateway decides; none, every document is read. Rules are not looked at. With jq: \
            tidegate explain store items --filter '{"owner": "ann"}' | jq .
            """
    )

    @Argument(help: "The database.") var database: String
    @Argument(help: "The collection.") var collection: String
    @Option(name: .long, help: "A filter, in EJSON.") var filter: String?
    @Option(name: .long, help: "A sort, in EJSON.") var sort: String?
    @Option(name: .long, help: "The most documents.") var limit: Int?
    @Option(name: .long, help: "How many documents to leave out.") var skip: Int?
    @Option(name: .long, help: "A pipeline, in EJSON, in place of the others.") var pipeline: String?
    @OptionGroup var connection: DatabaseOptions

    func run() async throws {
        var body: BSONDocument = [
            // Data sources are an app's; a database is the same for all.
            "dataSource": "mongodb-atlas", "database": .string(database), "collection": .string(collection),
            "explain": .bool(true),
        ]
        for (name, text) in [("filter", filter), ("sort", sort), ("pipeline", pipeline)] {
            if let text { body.append(name, try ExtendedJSON.readValue(Array(text.utf8))) }
        }
        for (name, number) in [("limit", limit), ("skip", skip)] {
            if let number { body.append(name, .int64(Int64(number))) }
        }
        if pipeline != nil, filter != nil || sort != nil || limit != nil || skip != nil {
            throw ValidationError("--pipeline goes without --filter, --sort, --limit and --skip")
        }
        let operation = try OperationParser.parse(action: pipeline == nil ? "find" : "aggregate", body: body)
        let answer = try await connection.withDatabase { database in
            let data = DataService(
                database: database,
                catalog: CollectionCatalog(database: database),
                ids: .random(),
                now: Composition.milliseconds
            )
            return try await data.explain(operation)
        }
        var text: [UInt8] = []
        PlainJSON.write(.document(answer), to: &text)
        print(String(decoding: text, as: UTF8.self))
    }
}
