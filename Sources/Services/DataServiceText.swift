import Errors
import MQL
import QueryCompiler
import Rules

extension DataCall {
    /// Refuses a `$text` where no index holds the texts.
    ///
    /// - Throws: ``ServiceError`` IndexNotFound (27), or BadValue (2) beside a hint.
    func checkText(_ action: DataAction, hint: IndexHint?) async throws(ServiceError) {
        guard action.searchesText else { return }
        if hint != nil { throw .mongo(.badValue, "text and hint not allowed in same query") }
        guard let layout = try await layout(), layout.text == nil else { return }
        // An index that was made a moment ago, of which the notification is still to come.
        service.catalog.forgetAll()
        guard try await self.layout()?.text != nil else {
            throw .mongo(27, "text index required for $text query")
        }
    }
}

extension DataAction {
    fileprivate var searchesText: Bool {
        switch self {
        case .find(let arguments), .findOne(let arguments): arguments.filter.textSearch != nil
        case .updateOne(let arguments), .updateMany(let arguments): arguments.filter.textSearch != nil
        case .deleteOne(let filter), .deleteMany(let filter): filter.textSearch != nil
        case .aggregate(let pipeline): pipeline.leadingMatch.textSearch != nil
        case .count(let arguments): arguments.filter.textSearch != nil
        case .distinct(let arguments): arguments.filter.textSearch != nil
        case .findAndModify(let arguments): arguments.filter.textSearch != nil
        case .bulkWrite(let arguments): arguments.operations.contains(where: \.searchesText)
        case .explain(let arguments):
            switch arguments.subject {
            case .find(let find): find.filter.textSearch != nil
            case .aggregate(let pipeline): pipeline.leadingMatch.textSearch != nil
            }
        case .insertOne, .insertMany, .estimatedCount, .watch: false
        }
    }
}

extension BulkOperation {
    fileprivate var searchesText: Bool {
        switch self {
        case .insertOne: false
        case .updateOne(let arguments), .updateMany(let arguments): arguments.filter.textSearch != nil
        case .deleteOne(let filter), .deleteMany(let filter): filter.textSearch != nil
        }
    }
}
