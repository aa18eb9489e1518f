import BSON
public import Errors

extension OperationParser {
    static func bulkWrite(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> BulkWriteArguments {
        let elements = try arguments.requiredArray("operations")
        if elements.isEmpty { throw OperationArguments.invalid("operations", "must not be empty") }
        if elements.count > maximumDocuments {
            throw .mongo(
                16,
                "Write batch sizes must be between 1 and \(maximumDocuments). Got \(elements.count) operations."
            )
        }
        budget.place = "operations"
        try budget.checkDocuments(elements.count)
        var operations: [BulkOperation] = []
        operations.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            let place = "operations[\(index)]"
            guard case .document(let document) = element, document.fields.count == 1,
                let entry = document.fields.first, case .document(let members) = entry.value
            else {
                throw OperationArguments.invalid(
                    place,
                    "must be an object with one member, the operation's name, that is an object"
                )
            }
            do throws(ServiceError) {
                operations.append(
                    try bulkOperation(entry.key, OperationArguments(body: members), place, budget)
                )
            } catch {
                throw error.placed(at: place)
            }
        }
        return BulkWriteArguments(
            operations: operations,
            isOrdered: try arguments.flag("ordered", default: true),
            isAtomic: try arguments.flag("atomic")
        )
    }

    private static func bulkOperation(
        _ name: String,
        _ arguments: OperationArguments,
        _ place: String,
        _ budget: ParseBudget
    ) throws(ServiceError) -> BulkOperation {
        budget.place = place
        // Each operation may have a `$text` of its own.
        budget.variables.remove(TextScore.field)
        try UnservedMembers.check(name, arguments, inBulk: true)
        switch name {
        case "insertOne":
            let document = try arguments.requiredDocument("document")
            try DocumentLimits.check(document)
            return .insertOne(document)
        case "updateOne": return .updateOne(try update(arguments, budget, multi: false))
        case "updateMany": return .updateMany(try update(arguments, budget, multi: true))
        case "replaceOne": return .updateOne(try replacement(arguments, budget))
        case "deleteOne": return .deleteOne(try requiredFilter(arguments, budget))
        case "deleteMany": return .deleteMany(try requiredFilter(arguments, budget))
        default:
            throw OperationArguments.invalid(
                name,
                "is no operation of bulkWrite: insertOne, updateOne, updateMany, replaceOne, deleteOne, deleteMany"
            )
        }
    }
}

extension ServiceError {
    /// The error of one member of a list, which names its place there.
    public func placed(at place: String) -> ServiceError {
        ServiceError(
            code,
            "\(known: place): \(sentence)",
            serverCode: serverCode,
            details: Dictionary(
                details.map { ($0.key == "limit" ? $0.key : "\(place).\($0.key)", $0.value) },
                uniquingKeysWith: { first, _ in first }
            ),
            cause: cause
        )
    }
}
