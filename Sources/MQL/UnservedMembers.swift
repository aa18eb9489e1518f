import BSON
import Errors

/// Refuses members of a request that would change what it does, and that its action does not serve.
///
/// Members that say nothing to an action are ignored, as the hosted service did; but an order, a bound or a question
/// that is not heeded would do something else than what its caller means. A member that is null, false, zero or empty is absent.
enum UnservedMembers {
    /// Options of MongoDB's reads that choose other documents, or show them otherwise.
    private static let ofReads = ["min", "max", "returnKey", "showRecordId", "tailable", "awaitData"]
    /// What a bulk says once, for all of its operations.
    private static let ofWholeRequests = ["collation", "hint", "let", "maxTimeMS"]

    /// - Throws: ``ServiceError`` `invalidParameter` with MongoDB's code 40415, or 9 for the order of an `updateMany`.
    static func check(
        _ action: String,
        _ arguments: OperationArguments,
        inBulk: Bool = false
    ) throws(ServiceError) {
        if action == "updateMany", isAsked("sort", arguments) {
            throw .mongo(.failedToParse, "Cannot specify sort with multi=true")
        }
        for name in names(of: action) where isAsked(name, arguments) {
            throw refusal(name, "is not served by \(action)")
        }
        guard inBulk else { return }
        for name in ofWholeRequests where isAsked(name, arguments) {
            throw refusal(name, "is not served by one operation of a bulkWrite, only beside 'operations'")
        }
    }

    private static func names(of action: String) -> [String] {
        switch action {
        case "find", "findOne": ofReads
        case "aggregate": []
        case "countDocuments", "distinct": ["explain"]
        case "updateMany", "deleteMany": ["explain", "limit", "skip"]
        case "deleteOne": ["explain", "sort", "skip"]
        case "updateOne", "replaceOne", "findOneAndUpdate", "findOneAndReplace", "findOneAndDelete":
            ["explain", "skip"]
        default: ["explain"]
        }
    }

    private static func isAsked(_ name: String, _ arguments: OperationArguments) -> Bool {
        switch arguments.value(name) {
        case nil, .bool(false)?: false
        case .document(let document)?: !document.isEmpty
        case let value?: value.exactInt64 != 0
        }
    }

    private static func refusal(_ name: String, _ fault: String) -> ServiceError {
        OperationArguments.invalid(name, fault, ServerErrorCode(40415))
    }
}
