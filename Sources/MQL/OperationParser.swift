public import BSON
public import Errors

/// Turns the body of a Data API request into a ``DataOperation``.
///
/// Members that an action does not know are ignored. Source: `reference/data-api.md` §2.
public enum OperationParser {
    /// How many documents `find` returns when the caller does not say.
    public static let defaultLimit = 1000
    /// How many documents `find` returns at most.
    public static let maximumLimit = 50_000
    /// How many documents one `insertMany` takes.
    public static let maximumDocuments = 100_000
    /// The actions, as they stand in the URL: the ten of the hosted service, then ours.
    public static let actions: [String] = [
        "findOne", "find", "insertOne", "insertMany", "updateOne", "updateMany", "replaceOne", "deleteOne",
        "deleteMany", "aggregate", "countDocuments", "estimatedDocumentCount", "distinct", "findOneAndUpdate",
        "findOneAndReplace", "findOneAndDelete", "bulkWrite",
    ]

    /// Parses the body of one of the ``actions``.
    ///
    /// - Parameters:
    ///   - action: Its name in the URL.
    ///   - body: The request's members.
    ///   - limits: How much one request may ask.
    /// - Returns: What the caller wants done, and where.
    /// - Throws: ``ServiceError`` with code `endpointNotFound` for another action, `missingParameter`
    ///   or `invalidParameter` for a member and for what passes a limit, `mongoDBError` for what MongoDB
    ///   would refuse.
    public static func parse(
        action: String,
        body: BSONDocument,
        limits: ParseLimits = .standard
    ) throws(ServiceError) -> DataOperation {
        guard actions.contains(action) else {
            throw ServiceError(.endpointNotFound, "unknown action '\(action)'")
        }
        let arguments = OperationArguments(body: body)
        let namespace = try NamespaceParser.namespace(arguments)
        let budget = ParseBudget(limits)
        budget.allowsText = true
        let options = try OptionParser.parse(arguments, budget)
        let action = try dataAction(action, arguments, budget)
        return DataOperation(namespace: namespace, action: action, options: options)
    }

    static func dataAction(
        _ name: String,
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> DataAction {
        try UnservedMembers.check(name, arguments)
        switch name {
        case "findOne": return try explained(.findOne(try find(arguments, budget, isOne: true)), arguments)
        case "find": return try explained(.find(try find(arguments, budget, isOne: false)), arguments)
        case "insertOne":
            let document = try arguments.requiredDocument("document")
            try DocumentLimits.check(document)
            return .insertOne(document)
        case "insertMany":
            let isOrdered = try arguments.flag("ordered", default: true)
            return .insertMany(
                InsertManyArguments(documents: try documents(arguments, budget), isOrdered: isOrdered)
            )
        case "updateOne": return .updateOne(try update(arguments, budget, multi: false))
        case "updateMany": return .updateMany(try update(arguments, budget, multi: true))
        case "replaceOne": return .updateOne(try replacement(arguments, budget))
        case "deleteOne": return .deleteOne(try requiredFilter(arguments, budget))
        case "deleteMany": return .deleteMany(try requiredFilter(arguments, budget))
        case "aggregate":
            budget.place = "pipeline"
            let stages = try OperationArguments.documents(arguments.requiredArray("pipeline"), of: "pipeline")
            var pipeline = try PipelineParser.parse(stages.map { .document($0) }, budget)
            if TextScore.isAsked(in: .array(stages.map { .document($0) })) {
                pipeline = pipeline.withTextScore
            }
            return try explained(.aggregate(pipeline), arguments)
        default: return try addedAction(name, arguments, budget)
        }
    }

    private static func find(
        _ arguments: OperationArguments,
        _ budget: ParseBudget,
        isOne: Bool
    ) throws(ServiceError) -> FindArguments {
        var find = FindArguments()
        if let filter = try arguments.document("filter") {
            find.filter = try FilterParser.parse(filter, budget)
        }
        if let projection = try arguments.document("projection") {
            budget.place = arguments.sentName("projection")
            find.projection = try ProjectionParser.parse(projection, inPipeline: false, budget)
            if find.projection?.isPositional == true, FieldReads(find.filter).hasExpression {
                throw .mongo(
                    224,
                    "positional operator '.$' couldn't be used with a filter that has an $expr"
                )
            }
        }
        find.sort = try sortOfFind(arguments, budget)
        find.readsTextScore = [arguments.value("projection"), arguments.value("sort")]
            .contains { TextScore.isAsked(in: $0) }
        find.skip = try arguments.skip()
        if isOne {
            find.limit = 1
            return find
        }
        let limit = try arguments.count("limit") ?? 0
        find.limit = limit == 0 ? defaultLimit : min(limit, maximumLimit)
        return find
    }

    /// The order that a request asks for; an empty one is none.
    static func sort(_ arguments: OperationArguments, _ budget: ParseBudget) throws(ServiceError) -> Sort? {
        guard let sort = try arguments.document("sort"), !sort.isEmpty else { return nil }
        budget.place = "sort"
        return try SortParser.parse(sort, budget)
    }

    /// The order of a find, which may be the one in which documents lie, forwards or backwards: here that of `_id`.
    ///
    /// - Throws: ``ServiceError`` with server code 2 where `$natural` has company, another direction, or a `$text`.
    private static func sortOfFind(_ arguments: OperationArguments, _ budget: ParseBudget)
        throws(ServiceError)
        -> Sort?
    {
        guard let order = try arguments.document("sort"), let direction = order["$natural"] else {
            return try sort(arguments, budget)
        }
        guard order.count == 1 else {
            throw .mongo(.badValue, "Cannot include '$natural' in compound sort")
        }
        let forwards = NumericValue(direction)?.roundedInt64
        guard forwards == 1 || forwards == -1 else {
            throw .mongo(.badValue, "$natural sort cannot be set to a value other than -1 or 1.")
        }
        guard !budget.variables.contains(TextScore.field) else {
            throw .mongo(.badValue, "text and $natural not allowed in same query")
        }
        if forwards == 1 { return nil }
        return Sort(keys: [Sort.Key(path: FieldPath(components: ["_id"]), ascending: false)])
    }

    /// The order in which a write takes the first document, of which scores are not part.
    static func sortOfWrite(_ arguments: OperationArguments, _ budget: ParseBudget) throws(ServiceError)
        -> Sort?
    {
        if TextScore.isAsked(in: arguments.value("sort")) {
            throw .mongo(.badValue, "$meta is not served in the sort of a write")
        }
        return try sort(arguments, budget)
    }

    private static func documents(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> [BSONDocument] {
        let elements = try arguments.requiredArray("documents")
        if elements.isEmpty {
            throw ServiceError(
                .invalidParameter,
                "must provide at least one element",
                serverCode: ServerErrorCode(16),
                details: ["documents": "must not be empty"]
            )
        }
        if elements.count > maximumDocuments {
            throw .mongo(
                16,
                "Write batch sizes must be between 1 and \(maximumDocuments). Got \(elements.count) operations."
            )
        }
        budget.place = "documents"
        try budget.checkDocuments(elements.count)
        let documents = try OperationArguments.documents(elements, of: "documents")
        for document in documents { try DocumentLimits.check(document) }
        return documents
    }

    static func requiredFilter(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Filter {
        if arguments.mayOmitFilter, arguments.value("filter") == nil { return .all }
        return try FilterParser.parse(arguments.requiredDocument("filter"), budget)
    }

    static func update(
        _ arguments: OperationArguments,
        _ budget: ParseBudget,
        multi: Bool
    ) throws(ServiceError) -> UpdateArguments {
        let filter = try requiredFilter(arguments, budget)
        let value = try arguments.required("update")
        switch value {
        case .document: break
        case .array(let stages): _ = try OperationArguments.documents(stages, of: "update")
        default: throw OperationArguments.invalid("update", "must be an object or an array", .failedToParse)
        }
        budget.place = "update"
        let update = try UpdateParser.parse(
            value,
            arrayFilters: arguments.documents("arrayFilters"),
            multi: multi,
            budget
        )
        return UpdateArguments(
            filter: filter,
            update: update,
            upsert: try arguments.flag("upsert"),
            sort: try sortOfWrite(arguments, budget)
        )
    }

    static func replacement(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> UpdateArguments {
        let filter = try requiredFilter(arguments, budget)
        let document = try arguments.requiredDocument("replacement")
        if document.firstKey?.startsWithDollar == true {
            throw OperationArguments.invalidReplacement
        }
        let replacement = try UpdateParser.replacement(document)
        try DocumentLimits.check(replacement)
        return UpdateArguments(
            filter: filter,
            update: .replacement(replacement),
            upsert: try arguments.flag("upsert"),
            sort: try sortOfWrite(arguments, budget)
        )
    }
}

extension OperationArguments {
    fileprivate static var invalidReplacement: ServiceError {
        ServiceError(
            .invalidParameter,
            "the replace operation document must not contain atomic operators",
            serverCode: .failedToParse,
            details: ["replacement": "must not contain atomic operators"]
        )
    }
}
