import BSON
import Errors
import MQL
import QueryCompiler
import SQL

/// An index that an administrator declared, as MongoDB would list it.
struct DeclaredIndex {
    let name: String
    let keys: BSONDocument
    let isUnique: Bool
    let isSparse: Bool
    let isPartial: Bool

    /// Whether it holds all fields, or all below one.
    var isWildcard: Bool { keys.keys.contains { $0 == "$**" || $0.hasSuffix(".$**") } && !isText }

    /// Whether it holds the words of texts.
    var isText: Bool { keys.fields.contains { $0.value == .string("text") } }

    /// What MongoDB calls an index that nobody gave a name.
    var standardName: String {
        keys.fields.map { "\($0.key)_\($0.value.string ?? $0.value.exactInt64.map(String.init) ?? "")" }
            .joined(separator: "_")
    }
}

extension DataCall {
    /// The indexes of a collection that are ready, beside that on `_id`.
    func declaredIndexes(_ layout: CollectionLayout) async throws(ServiceError) -> [DeclaredIndex] {
        let rows = try await run(DeclaredIndexStatements.ready(collection: layout.id), isPoint: true)
        var indexes: [DeclaredIndex] = []
        for row in 0..<rows.rowCount {
            guard let name = rows.text(row, 0), let keys = rows.slice(row, 1),
                let options = rows.slice(row, 2)
            else { continue }
            let known = try ExtendedJSON.readDocument(Array(options))
            indexes.append(
                DeclaredIndex(
                    name: name,
                    keys: try ExtendedJSON.readDocument(Array(keys)),
                    isUnique: known["unique"] == .bool(true),
                    isSparse: known["sparse"] == .bool(true),
                    isPartial: known["partialFilterExpression"] != nil
                )
            )
        }
        return indexes
    }

    /// Refuses a hint that names no index, or one that cannot serve; which one does is PostgreSQL's choice all the same.
    ///
    /// - Returns: The documents that the index holds, where it leaves some out; nil for all.
    /// - Throws: ``ServiceError`` with server code 2 or 291.
    func check(_ hint: IndexHint, of action: DataAction) async throws(ServiceError) -> Filter? {
        if hint.isBuiltIn { return nil }
        guard let layout = try await layout() else { return nil }
        let named = try await declaredIndexes(layout).first { index in
            switch hint {
            case .name(let name):
                TextOrder.equal(index.name, name) || TextOrder.equal(index.standardName, name)
            // A text index has other keys inside than those that made it.
            case .keys(let keys): !index.isText && BSONOrdering.equal(.document(keys), .document(index.keys))
            }
        }
        guard let named else {
            throw .mongo(
                .badValue,
                "error processing query: planner returned error :: caused by :: hint provided does not correspond to an existing index"
            )
        }
        if named.isWildcard, action.selectsAll {
            throw .mongo(
                291,
                "error processing query: planner returned error :: caused by :: No query solutions: a wildcard index serves no query without a filter"
            )
        }
        guard named.isSparse else { return nil }
        return .or(named.keys.keys.map { .field(FieldPath($0), .exists(true)) })
    }
}
