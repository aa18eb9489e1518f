public import BSON
public import Errors

/// Arguments of `watch`.
public struct WatchArguments: Sendable {
    /// Only changes of documents with one of these `_id`s; nil is all.
    public var ids: [BSONValue]?
    /// Which events are wanted; it looks at the event, not at the document.
    public var filter: Filter
    /// What becomes of each event.
    public var pipeline: Pipeline?
    /// The `_data` of the event behind which to begin; nil begins now.
    public var resumeToken: String?

    /// Everything from now on, but for what is given.
    public init(
        ids: [BSONValue]? = nil,
        filter: Filter = .all,
        pipeline: Pipeline? = nil,
        resumeToken: String? = nil
    ) {
        self.ids = ids
        self.filter = filter
        self.pipeline = pipeline
        self.resumeToken = resumeToken
    }
}

extension OperationParser {
    /// The stages that a pipeline over events may have, as in MongoDB.
    static let watchStages: Set<String> = [
        "$match", "$project", "$addFields", "$set", "$unset", "$replaceRoot", "$replaceWith", "$redact",
    ]

    /// Parses the only argument of `watch`.
    ///
    /// Shape: `{database, collection, ids?: […], filter?: {"fullDocument.age": {"$lt": 40}}, pipeline?: […],
    /// resumeAfter?: {_data}}`; where there are both, an event has to satisfy `ids` and `filter`.
    ///
    /// - Parameters:
    ///   - argument: What the caller sent.
    ///   - service: The data source.
    ///   - limits: How much one request may ask.
    /// - Returns: What the caller wants to see, and of which collection.
    /// - Throws: ``ServiceError`` with code `invalidParameter` or `missingParameter` for a member, `mongoDBError` for
    ///   what MongoDB would refuse.
    ///
    /// Source: `reference/client-api.md` §10.1.
    public static func parseWatch(
        _ argument: BSONDocument,
        service: String,
        limits: ParseLimits = .standard
    ) throws(ServiceError) -> DataOperation {
        var body = argument
        body["dataSource"] = .string(service)
        let arguments = OperationArguments(body: body)
        let namespace = try NamespaceParser.namespace(arguments)
        let budget = ParseBudget(limits)
        if try arguments.flag("useCompactEvents") {
            throw OperationArguments.invalid(
                "useCompactEvents",
                "must be false: compact events are not served"
            )
        }
        var watch = WatchArguments()
        if arguments.value("ids") != nil {
            let ids = try arguments.requiredArray("ids")
            budget.place = "ids"
            try budget.checkList("ids", ids.count)
            watch.ids = ids
        }
        budget.place = "filter"
        if let filter = try arguments.document("filter") {
            watch.filter = try FilterParser.parse(filter, budget)
        }
        if arguments.value("pipeline") != nil {
            budget.place = "pipeline"
            let stages = try OperationArguments.documents(arguments.requiredArray("pipeline"), of: "pipeline")
            let pipeline = try PipelineParser.parse(stages.map { .document($0) }, budget)
            for stage in pipeline.stages where !watchStages.contains(stage.name) {
                throw .mongo(20, "\(stage.name) is not permitted in a $changeStream pipeline")
            }
            watch.pipeline = pipeline
        }
        watch.resumeToken = try resumeToken(arguments)
        return DataOperation(namespace: namespace, action: .watch(watch))
    }

    private static func resumeToken(_ arguments: OperationArguments) throws(ServiceError) -> String? {
        var result: String?
        for name in ["resumeAfter", "startAfter"] {
            guard let token = try arguments.document(name) else { continue }
            guard result == nil else {
                throw OperationArguments.invalid("startAfter", "must not stand beside 'resumeAfter'")
            }
            guard case .string(let data)? = token["_data"] else {
                throw OperationArguments.invalid(name, "must be the _id of an event")
            }
            result = data
        }
        return result
    }
}
