public import BSON
public import Errors

// What the documents of a `$merge` are matched by: the values of the `on` fields together.
extension MergeArguments {
    /// The dotted names of the `on` fields, for whoever looks for a unique index on them.
    public var fieldNames: Set<String> { Set(fields.map(\.dotted)) }

    /// Whether documents are matched by `_id`, alone or among others.
    public var usesID: Bool { fields.contains { $0.components == ["_id"] } }

    /// The values of the `on` fields of a document that is to be merged; a missing one is null.
    ///
    /// - Parameters:
    ///   - document: What the pipeline gave.
    ///   - takesNullish: Whether a missing value may be one, as with an index that is not sparse.
    /// - Returns: One value for each field.
    /// - Throws: ``ServiceError`` with server code 51132 for a value that is missing or null and may not be, 51185 for
    ///   an array.
    public func values(of document: BSONDocument, takesNullish: Bool) throws(ServiceError) -> [BSONValue] {
        var values: [BSONValue] = []
        for field in fields {
            var value: BSONValue? = .document(document)
            for name in field.components {
                if case .array? = value { throw Self.arrayRefusal }
                value = value?.document?[name]
            }
            switch value {
            case .array?: throw Self.arrayRefusal
            case nil, .null?, .undefined?:
                if !takesNullish {
                    throw .mongo(
                        51132,
                        "$merge write error: 'on' field '\(field.dotted)' cannot be missing, null or undefined if supporting index is sparse"
                    )
                }
                values.append(.null)
            case let value?: values.append(value)
            }
        }
        return values
    }

    private static let arrayRefusal = ServiceError.mongo(
        51185,
        "$merge write error: 'on' field cannot be an array"
    )

    /// What a document that is there already is found by; an array counts by each of its elements, too.
    func keys(of document: BSONDocument) throws(ServiceError) -> [BSONKey] {
        var combinations: [[BSONValue]] = [[]]
        for field in fields {
            var candidates: [BSONValue] = []
            _ = try PathCandidates(path: field.components, leaf: .opened)
                .contains(in: document) { (value, _) throws(ServiceError) in
                    candidates.append(value ?? .null)
                    return false
                }
            combinations = combinations.flatMap { begun in candidates.map { begun + [$0] } }
        }
        return combinations.map { BSONKey(.array($0)) }
    }

    /// Which documents of the target some of these values can match.
    public func narrowing(for values: [[BSONValue]]) -> Filter {
        if fields.count == 1 {
            return .field(fields[0], .inside(values.compactMap(\.first).map { .value($0) }))
        }
        return .or(
            values.map { values in
                .and(zip(fields, values).map { .field($0, .compare(.equal, $1)) })
            }
        )
    }
}
