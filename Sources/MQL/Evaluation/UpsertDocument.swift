public import BSON
public import Errors

extension Update {
    /// The document that an upsert inserts when nothing matched.
    ///
    /// It starts from the equalities of the filter, takes the update with `$setOnInsert`, and gets
    /// `_id` from either, or a new one, in front. Source: `reference/mql.md` §6.
    ///
    /// - Parameters:
    ///   - filter: The filter that matched nothing.
    ///   - context: The time, variables, and what may be spent.
    ///   - newID: Called when neither filter nor update gives an `_id`.
    /// - Returns: A document with an `_id`, within the limits of storage.
    /// - Throws: ``ServiceError`` as ``apply(to:filter:isUpsertInsert:_:)``, and with server code 54 when
    ///   the filter says the same path twice.
    public func upsertDocument(
        filter: Filter,
        _ context: EvaluationContext,
        newID: () -> ObjectID
    ) throws(ServiceError) -> BSONDocument {
        var equalities = UpsertEqualities()
        if case .replacement = self { equalities.onlyID = true }
        try equalities.collect(from: filter)
        let seed = try equalities.document(context)
        var result = try apply(to: seed, filter: filter, isUpsertInsert: true, context)
        if result["_id"] == nil {
            result.fields.insert(BSONDocument.Field(key: "_id", value: .objectID(newID())), at: 0)
        }
        try DocumentLimits.check(result)
        return result
    }
}

/// What a filter says about a document that it would match: the paths with one possible value.
struct UpsertEqualities {
    /// A replacement takes nothing but `_id` from the filter.
    var onlyID = false
    private var changes: [UpdateChange] = []
    private let paths = PathTrie<ByteText>()

    init() {}

    /// Gathers equalities, also inside `$and` and in the only branch of an `$or`.
    ///
    /// - Throws: ``ServiceError`` with server code 54.
    mutating func collect(from filter: Filter) throws(ServiceError) {
        switch filter {
        case .and(let members):
            for member in members { try collect(from: member) }
        case .or(let members):
            if members.count == 1 { try collect(from: members[0]) }
        case .field(let path, let test):
            if let value = Self.value(of: test) { try add(path, value) }
        case .all, .nothing, .nor, .expression, .schema, .text: break
        }
    }

    /// The document made of the equalities.
    func document(_ context: EvaluationContext) throws(ServiceError) -> BSONDocument {
        var evaluator = UpdateEvaluator(root: BSONDocument(), isInsert: true, context: context)
        return try evaluator.apply(UpdateOrder.sorted(changes))
    }

    private mutating func add(_ path: FieldPath, _ value: BSONValue) throws(ServiceError) {
        if onlyID, path.components != ["_id"] { return }
        if path.components.count > UpdatePathParser.maximumComponents {
            throw .mongo(
                .overflow,
                "The path '\(MessageText.shortened(path.dotted))' exceeds the maximum nesting depth of \(UpdatePathParser.maximumComponents)"
            )
        }
        if path.components.contains(where: \.isEmpty) {
            throw .mongo(
                .emptyFieldName,
                "The update path '\(MessageText.shortened(path.dotted))' contains an empty field name, which is not allowed."
            )
        }
        switch paths.insert(path.components.map { ByteText($0) }) {
        case nil: break
        case .below?, .above(path.components.count)?:
            throw .mongo(
                .notSingleValueField,
                "cannot infer query fields to set, path '\(path.dotted)' is matched twice"
            )
        case .above(let length)?:
            let above = path.components.prefix(length).joined(separator: ".")
            throw .mongo(
                .notSingleValueField,
                "cannot infer query fields to set, both paths '\(path.dotted)' and '\(above)' are matched"
            )
        }
        changes.append(
            UpdateChange(path: UpdatePath(components: path.components.map { .name($0) }), action: .set(value))
        )
    }

    private static func value(of test: FieldTest) -> BSONValue? {
        switch test {
        case .compare(.equal, let value):
            if case .regex = value { nil } else { value }
        case .inside(let members), .all(let members):
            if members.count == 1, case .value(let value) = members[0] { value } else { nil }
        case .compare, .exists, .type, .modulo, .matches, .allElements, .elementMatch, .size, .bits, .not:
            nil
        }
    }
}
