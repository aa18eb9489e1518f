public import BSON
public import Errors

// The MongoDB service of the client API: the same operations under other names of their members.
extension OperationParser {
    /// The actions of the MongoDB service that answer at once, as SDKs name them.
    public static let serviceActions: [String] = [
        "find", "findOne", "findOneAndUpdate", "findOneAndReplace", "findOneAndDelete", "aggregate", "count",
        "distinct", "insertOne", "insertMany", "updateOne", "updateMany", "deleteOne", "deleteMany",
    ]

    /// Parses the only argument of a call to the MongoDB service.
    ///
    /// Shape: `find` with `{database, collection, query: {a: 1}, project: {b: 1}}` is the Data API's `find` with
    /// `filter` and `projection`. SDKs write `query` and `project`, in the `findOneAnd…` family `filter` and
    /// `projection`; either is taken anywhere, never both. Without a filter all documents are meant, in writes,
    /// too: SDKs leave out what was not given. An `update` without operators replaces, also many.
    ///
    /// - Parameters:
    ///   - serviceAction: One of ``serviceActions``.
    ///   - service: The data source.
    ///   - argument: What the caller sent.
    ///   - limits: How much one request may ask.
    /// - Returns: What the caller wants done, and where.
    /// - Throws: ``ServiceError`` with code `serviceCommandNotFound` for another action, and as
    ///   ``parse(action:body:limits:)``.
    ///
    /// Source: `reference/client-api.md` §§9.2, 9.3.
    public static func parse(
        serviceAction: String,
        service: String,
        argument: BSONDocument,
        limits: ParseLimits = .standard
    ) throws(ServiceError) -> DataOperation {
        guard serviceActions.contains(serviceAction) else {
            throw ServiceError(
                .serviceCommandNotFound,
                "service command not found: '\(serviceAction)'"
            )
        }
        var body = argument
        body["dataSource"] = .string(service)
        var arguments = OperationArguments(body: body)
        arguments.mayOmitFilter = true
        let isModification = serviceAction.hasPrefix("findOneAnd")
        try arguments.rename("filter", "query", prefersFirst: isModification)
        try arguments.rename("projection", "project", prefersFirst: isModification)
        if serviceAction == "findOneAndReplace" { arguments.names["replacement"] = "update" }
        let namespace = try NamespaceParser.namespace(arguments)
        let budget = ParseBudget(limits)
        budget.allowsText = true
        let options = try OptionParser.parse(arguments, budget)
        budget.place = arguments.sentName("filter")
        return DataOperation(
            namespace: namespace,
            action: try action(of: serviceAction, arguments, budget),
            options: options
        )
    }

    private static func action(
        of serviceAction: String,
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> DataAction {
        switch serviceAction {
        case "count": return try dataAction("countDocuments", arguments, budget)
        // The Data API's check of a multi-document update refuses replacements, which this API takes.
        case "updateMany": return .updateMany(try update(arguments, budget, multi: false))
        // `realm-web` calls its own findOneAndDelete so.
        case "findOneAndReplace" where arguments.value("replacement") == nil:
            return try dataAction("findOneAndDelete", arguments, budget)
        case "find":
            let parsed = try dataAction(serviceAction, arguments, budget)
            guard case .find(var find) = parsed, try arguments.count("limit") ?? 0 == 0 else { return parsed }
            find.limit = maximumLimit
            return .find(find)
        default: return try dataAction(serviceAction, arguments, budget)
        }
    }
}

extension OperationArguments {
    /// Finds out by which of two names the request calls a member.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter` when it uses both.
    fileprivate mutating func rename(
        _ first: String,
        _ second: String,
        prefersFirst: Bool
    ) throws(ServiceError) {
        let has = [first, second].filter { body[$0].map { !$0.isNull } ?? false }
        if has.count == 2 {
            throw Self.invalid(second, "must not stand beside '\(first)': they mean the same")
        }
        names[first] = has.first ?? (prefersFirst ? first : second)
    }
}
