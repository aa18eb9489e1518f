import BSON
import Errors

// The actions that the hosted service did not have, in the style of those that it had.
extension OperationParser {
    static func addedAction(
        _ name: String,
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> DataAction {
        switch name {
        case "countDocuments": .count(try count(arguments, budget))
        case "estimatedDocumentCount": .estimatedCount
        case "distinct": .distinct(try distinct(arguments, budget))
        case "findOneAndUpdate":
            .findAndModify(
                try findAndModify(try update(arguments, budget, multi: false), arguments, budget)
            )
        case "findOneAndReplace":
            .findAndModify(try findAndModify(try replacement(arguments, budget), arguments, budget))
        case "findOneAndDelete": .findAndModify(try findAndDelete(arguments, budget))
        default: .bulkWrite(try bulkWrite(arguments, budget))
        }
    }

    private static func optionalFilter(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Filter {
        guard let filter = try arguments.document("filter") else { return .all }
        return try FilterParser.parse(filter, budget)
    }

    private static func count(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> CountArguments {
        let filter = try optionalFilter(arguments, budget)
        let limit = try arguments.count("limit", fraction: .failedToParse) ?? 0
        return CountArguments(
            filter: filter,
            skip: try arguments.skip(),
            limit: limit == 0 ? nil : limit
        )
    }

    private static func distinct(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> DistinctArguments {
        guard case .string(let key) = try arguments.required("key") else {
            throw OperationArguments.invalid("key", "must be a string", .typeMismatch)
        }
        if key.utf8.contains(0) {
            throw OperationArguments.invalid(
                "key",
                "must not contain a NUL character",
                ServerErrorCode(31032)
            )
        }
        let outer = budget.variables
        defer { budget.variables = outer }
        budget.variables.insert(ExpressionScope.clusterTime)
        let filter = try optionalFilter(arguments, budget)
        try OptionParser.checkConstants(filter.mentions)
        return DistinctArguments(key: FieldPath(key), filter: filter)
    }

    private static func findAndModify(
        _ update: UpdateArguments,
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> FindAndModifyArguments {
        var result = FindAndModifyArguments(
            filter: update.filter,
            sort: update.sort,
            change: .update(update.update),
            upsert: update.upsert
        )
        // `new` is what MongoDB's command calls it.
        let isNew = try arguments.flag("new")
        result.returnsNew = try arguments.flag("returnNewDocument", default: isNew)
        switch arguments.value("returnDocument") {
        case nil: break
        case .string("after"): result.returnsNew = true
        case .string("before"):
            if result.returnsNew {
                throw OperationArguments.invalid("returnDocument", "contradicts 'returnNewDocument'")
            }
        default: throw OperationArguments.invalid("returnDocument", "must be 'before' or 'after'")
        }
        return try shown(result, arguments, budget)
    }

    private static func findAndDelete(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> FindAndModifyArguments {
        let filter = try requiredFilter(arguments, budget)
        let sort = try sortOfWrite(arguments, budget)
        return try shown(
            FindAndModifyArguments(filter: filter, sort: sort, change: .delete),
            arguments,
            budget
        )
    }

    /// With the member that says what is shown of the document.
    private static func shown(
        _ change: FindAndModifyArguments,
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> FindAndModifyArguments {
        var result = change
        if let projection = try arguments.document("projection") {
            budget.place = arguments.sentName("projection")
            result.projection = try ProjectionParser.parse(projection, inPipeline: false, budget)
        }
        return result
    }
}
