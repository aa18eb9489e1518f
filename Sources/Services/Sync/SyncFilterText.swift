import BSON
import MQL

/// Filters as MQL again, to be kept; only what roles for sync can say.
enum SyncFilterText {
    /// The filter as a document that ``FilterParser`` reads back; nil for what roles for sync cannot say.
    static func document(_ filter: Filter) -> BSONDocument? {
        switch filter {
        case .all: return [:]
        case .nothing: return ["$nor": [.document([:])]]
        case .and(let members): return members.isEmpty ? [:] : combined("$and", members)
        case .or(let members): return members.isEmpty ? document(.nothing) : combined("$or", members)
        case .nor(let members): return members.isEmpty ? [:] : combined("$nor", members)
        case .field(let path, let test):
            guard path.components.allSatisfy({ !$0.isEmpty && !$0.contains(".") && !$0.hasPrefix("$") }),
                let operators = operators(test)
            else { return nil }
            return BSONDocument([
                BSONDocument.Field(
                    key: path.components.joined(separator: "."),
                    value: .document(operators)
                )
            ])
        case .expression, .schema, .text: return nil
        }
    }

    private static func combined(_ name: String, _ members: [Filter]) -> BSONDocument? {
        var documents: [BSONValue] = []
        for member in members {
            guard let document = document(member) else { return nil }
            documents.append(.document(document))
        }
        return BSONDocument([BSONDocument.Field(key: name, value: .array(documents))])
    }

    private static func operators(_ test: FieldTest) -> BSONDocument? {
        switch test {
        case .compare(let comparison, let value):
            return BSONDocument([BSONDocument.Field(key: comparison.rawValue, value: value)])
        case .inside(let members): return values(members).map { ["$in": .array($0)] }
        case .all(let members): return values(members).map { ["$all": .array($0)] }
        case .exists(let exists): return ["$exists": .bool(exists)]
        case .type(let types) where types == [.array]: return ["$type": "array"]
        case .not(let tests):
            var inner = BSONDocument()
            for test in tests {
                guard let operators = operators(test) else { return nil }
                for field in operators {
                    guard inner[field.key] == nil else { return nil }
                    inner.append(field.key, field.value)
                }
            }
            return ["$not": .document(inner)]
        default: return nil
        }
    }

    private static func values(_ members: [FilterMember]) -> [BSONValue]? {
        var values: [BSONValue] = []
        for member in members {
            guard case .value(let value) = member else { return nil }
            values.append(value)
        }
        return values
    }
}
