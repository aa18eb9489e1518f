public import BSON
public import Errors

// The MongoDB service as functions call it: the client's actions, and those that only functions have.
extension OperationParser {
    /// The methods of a collection that a function may call.
    public static let functionMethods: [String] = serviceActions + ["replaceOne", "bulkWrite"]

    /// Parses what a method of a collection was called with in a function.
    ///
    /// Shape: as ``parse(serviceAction:service:argument:limits:)``; `replaceOne` has its document in `replacement`,
    /// `bulkWrite` its list in `operations`. Unlike a client's, an update without operators is refused.
    ///
    /// - Parameters:
    ///   - functionMethod: One of ``functionMethods``.
    ///   - service: The data source.
    ///   - argument: The arguments, by name.
    ///   - limits: How much one call may ask.
    /// - Returns: What the function wants done, and where.
    /// - Throws: ``ServiceError`` with code `serviceCommandNotFound` for another method, and as
    ///   ``parse(action:body:limits:)``.
    ///
    /// Source: `reference/functions.md` §5.2.
    public static func parse(
        functionMethod: String,
        service: String,
        argument: BSONDocument,
        limits: ParseLimits = .standard
    ) throws(ServiceError) -> DataOperation {
        guard functionMethods.contains(functionMethod) else {
            throw ServiceError(.serviceCommandNotFound, "service command not found: '\(functionMethod)'")
        }
        var operation = try operation(functionMethod, service, argument, limits)
        switch argument["bypassDocumentValidation"] {
        case nil, .null?: break
        case .bool(let flag)?: operation.options.bypassesSchema = flag
        default: throw OperationArguments.invalid("bypassDocumentValidation", "must be true or false")
        }
        return operation
    }

    /// Parses the aggregation of a database, whose pipeline begins with `$documents`.
    ///
    /// - Parameters:
    ///   - argument: `database`, `pipeline` and the options of an aggregation.
    ///   - service: The data source.
    ///   - limits: How much one call may ask.
    /// - Returns: An aggregation in the namespace that MongoDB writes as `database.$cmd.aggregate`.
    /// - Throws: ``ServiceError`` with server code 73 for a pipeline that reads a collection, and as
    ///   ``parse(action:body:limits:)``.
    ///
    /// Source: `reference/functions.md` §5.1.
    public static func parse(
        databaseAggregate argument: BSONDocument,
        service: String,
        limits: ParseLimits = .standard
    ) throws(ServiceError) -> DataOperation {
        var body = argument
        body["dataSource"] = .string(service)
        body["collection"] = "aggregate"
        let arguments = OperationArguments(body: body)
        let namespace = try NamespaceParser.namespace(arguments)
        let budget = ParseBudget(limits)
        let options = try OptionParser.parse(arguments, budget)
        budget.place = "pipeline"
        let stages = try OperationArguments.documents(arguments.requiredArray("pipeline"), of: "pipeline")
        if stages.isEmpty { throw .mongo(73, "{aggregate: 1} is not valid for an empty pipeline.") }
        let pipeline = try PipelineParser.parse(stages.map { .document($0) }, place: .database, budget)
        return DataOperation(
            namespace: Namespace(
                dataSource: namespace.dataSource,
                database: namespace.database,
                collection: "$cmd.aggregate"
            ),
            action: .aggregate(pipeline),
            options: options
        )
    }

    private static func operation(
        _ functionMethod: String,
        _ service: String,
        _ argument: BSONDocument,
        _ limits: ParseLimits
    ) throws(ServiceError) -> DataOperation {
        var argument = argument
        switch functionMethod {
        case "replaceOne", "bulkWrite":
            argument["dataSource"] = .string(service)
            if functionMethod == "replaceOne" {
                argument["filter"] = argument["filter"] ?? argument["query"] ?? .document([:])
                argument["replacement"] = argument["replacement"] ?? argument["update"]
            }
            return try parse(action: functionMethod, body: argument, limits: limits)
        case "updateOne", "updateMany", "findOneAndUpdate":
            if case .document(let update)? = argument["update"], update.firstKey?.hasPrefix("$") != true {
                throw ServiceError(
                    .invalidParameter,
                    "update document must contain atomic operators",
                    serverCode: .failedToParse,
                    details: ["update": "must contain atomic operators"]
                )
            }
        case "findOneAndReplace" where argument["update"] == nil && argument["replacement"] != nil:
            argument["update"] = argument["replacement"]
            argument["replacement"] = nil
        default: break
        }
        return try parse(
            serviceAction: functionMethod,
            service: service,
            argument: argument,
            limits: limits
        )
    }
}
