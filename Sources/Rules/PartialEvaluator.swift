import BSON
import MQL

/// Replaces what is known of the caller by values; what is left are conditions on documents.
///
/// The same steps decide a condition once a document is there, with the document's values as
/// further known ones: see `ConditionEvaluator`.
struct PartialEvaluator {
    let facts: RuleFacts

    init(_ context: RuleContext) {
        facts = RuleFacts(context)
    }

    /// What is left of an expression; at the document's level `%%this` is the document itself.
    func reduce(_ expression: RuleExpression, atDocumentLevel: Bool) -> Condition {
        switch expression {
        case .constant(let value): return .constant(Truth(value))
        case .refused: return .unknown
        case .all(let members): return Self.all(members.map { reduce($0, atDocumentLevel: atDocumentLevel) })
        case .any(let members): return Self.any(members.map { reduce($0, atDocumentLevel: atDocumentLevel) })
        case .not(let member): return Self.not(reduce(member, atDocumentLevel: atDocumentLevel))
        case .comparison(let left, let test):
            return reduce(left, test, atDocumentLevel)
        }
    }

    private func reduce(_ left: Expansion, _ test: RuleTest, _ atDocumentLevel: Bool) -> Condition {
        switch test {
        case .all(let tests): return Self.all(tests.map { reduce(left, $0, atDocumentLevel) })
        case .any(let tests): return Self.any(tests.map { reduce(left, $0, atDocumentLevel) })
        case .not(let test): return Self.not(reduce(left, test, atDocumentLevel))
        case .exists(let wanted):
            return known(side(left, atDocumentLevel), .field(.exists(wanted)))
        case .equal(let operand):
            return compare(side(left, atDocumentLevel), .equal, operand, atDocumentLevel)
        case .greater(let operand):
            return compare(side(left, atDocumentLevel), .greater, operand, atDocumentLevel)
        case .greaterOrEqual(let operand):
            return compare(side(left, atDocumentLevel), .greaterOrEqual, operand, atDocumentLevel)
        case .less(let operand): return compare(side(left, atDocumentLevel), .less, operand, atDocumentLevel)
        case .lessOrEqual(let operand):
            return compare(side(left, atDocumentLevel), .lessOrEqual, operand, atDocumentLevel)
        case .inside(let operand):
            return Self.any(
                parts(operand, atDocumentLevel).map {
                    compare(side(left, atDocumentLevel), .inside, $0, atDocumentLevel)
                }
            )
        case .allOf(let operand):
            return compare(side(left, atDocumentLevel), .allOf, operand, atDocumentLevel)
        }
    }

    /// A list that is written out, taken apart where a member is not known, so that a missing member
    /// leaves the others standing; else the operand itself.
    private func parts(_ operand: RuleOperand, _ atDocumentLevel: Bool) -> [RuleOperand] {
        guard case .array(let elements) = operand else { return [operand] }
        var known: [BSONValue] = []
        var rest: [RuleOperand] = []
        for element in elements {
            if case .value(let value, _) = Self.resolve(
                element,
                facts.answers,
                lookUp: { lookUp($0, atDocumentLevel) }
            ) {
                known.append(value)
            } else {
                rest.append(.array([element]))
            }
        }
        return (known.isEmpty ? [] : [.literal(.array(known))]) + rest
    }

    private func side(_ left: Expansion, _ atDocumentLevel: Bool) -> Condition.LeftSide {
        if case .image(let reference) = left {
            return .image(Self.located(reference, atDocumentLevel))
        }
        let place = facts.place(of: left) ?? ([:], ["v"])
        return .known(place.document, place.path)
    }

    private func compare(
        _ left: Condition.LeftSide,
        _ kind: ComparisonKind,
        _ operand: RuleOperand,
        _ atDocumentLevel: Bool
    ) -> Condition {
        switch Self.resolve(operand, facts.answers, lookUp: { lookUp($0, atDocumentLevel) }) {
        case .missing:
            return .unknown
        case .value(let value, let fromExpansion):
            guard let test = kind.known(value, fromExpansion: fromExpansion) else { return .unknown }
            return known(left, test)
        case .pending(let operand):
            if case .known(let document, let path) = left, !ConditionEvaluator.exists(document, path) {
                return .unknown
            }
            return .comparison(left, kind, operand)
        }
    }

    /// A test against known values: decided at once when its left side is known, too.
    private func known(_ left: Condition.LeftSide, _ test: KnownTest) -> Condition {
        switch left {
        case .image(let reference): .test(reference, test)
        case .known(let document, let path): .constant(ConditionEvaluator.decide(test, document, path))
        }
    }

    private func lookUp(_ expansion: Expansion, _ atDocumentLevel: Bool) -> Resolved {
        if case .image(let reference) = expansion {
            return .pending(.expansion(.image(Self.located(reference, atDocumentLevel))))
        }
        guard let place = facts.place(of: expansion), let value = value(at: place.path, in: place.document)
        else { return .missing }
        return .value(value, fromExpansion: true)
    }

    /// At the level of the document `%%this` is `%%root` and `%%prev` is `%%prevRoot`.
    private static func located(_ reference: ImageReference, _ atDocumentLevel: Bool) -> ImageReference {
        guard atDocumentLevel else { return reference }
        return switch reference.image {
        case .root, .prevRoot: reference
        case .this: ImageReference(.root, reference.path)
        case .prev: ImageReference(.prevRoot, reference.path)
        }
    }
}

extension PartialEvaluator {
    /// An operand as far as it is known.
    enum Resolved {
        case value(BSONValue, fromExpansion: Bool)
        /// An expansion in it is missing, or a value cannot be converted.
        case missing
        case pending(RuleOperand)
    }

    /// Replaces the expansions of an operand that `lookUp` knows, and its functions by what they answered.
    ///
    /// What is pending keeps `answers`, so that documents are decided with the same ones.
    static func resolve(
        _ operand: RuleOperand,
        _ answers: FunctionAnswers? = nil,
        lookUp: (Expansion) -> Resolved
    ) -> Resolved {
        switch operand {
        case .literal(let value):
            return .value(value, fromExpansion: false)
        case .expansion(let expansion):
            return lookUp(expansion)
        case .converted(let conversion, let inner):
            switch resolve(inner, answers, lookUp: lookUp) {
            case .missing: return .missing
            case .value(let value, _):
                return conversion.apply(value).map { .value($0, fromExpansion: true) } ?? .missing
            case .pending(let inner): return .pending(.converted(conversion, inner))
            }
        case .function(let function):
            return resolve(function, function.answers ?? answers, lookUp: lookUp)
        case .array(let elements):
            return combine(elements, answers, lookUp) {
                .array($0)
            } pending: {
                .array($0)
            }
        case .document(let members):
            return combine(members.map(\.value), answers, lookUp) { values in
                .document(BSONDocument(zip(members, values).map { .init(key: $0.key, value: $1) }))
            } pending: { operands in
                .document(zip(members, operands).map { RuleOperand.Member(key: $0.key, value: $1) })
            }
        }
    }

    /// The answer of a function whose arguments are known; a missing argument is `undefined`.
    private static func resolve(
        _ function: FunctionOperand,
        _ answers: FunctionAnswers?,
        lookUp: (Expansion) -> Resolved
    ) -> Resolved {
        var values: [BSONValue] = []
        var operands: [RuleOperand] = []
        for argument in function.arguments {
            switch resolve(argument, answers, lookUp: lookUp) {
            case .missing:
                values.append(.undefined)
                operands.append(.literal(.undefined))
            case .value(let value, _):
                values.append(value)
                operands.append(.literal(value))
            case .pending(let operand): operands.append(operand)
            }
        }
        guard values.count == operands.count else {
            return .pending(
                .function(
                    FunctionOperand(name: function.name, arguments: operands, answers: answers)
                )
            )
        }
        let question = FunctionQuestion(name: function.name, arguments: values)
        return answers?.value(of: question).map { .value($0, fromExpansion: true) } ?? .missing
    }

    private static func combine(
        _ operands: [RuleOperand],
        _ answers: FunctionAnswers?,
        _ lookUp: (Expansion) -> Resolved,
        value: ([BSONValue]) -> BSONValue,
        pending: ([RuleOperand]) -> RuleOperand
    ) -> Resolved {
        var values: [BSONValue] = []
        var rest: [RuleOperand] = []
        for operand in operands {
            switch resolve(operand, answers, lookUp: lookUp) {
            case .missing: return .missing
            case .value(let known, _):
                values.append(known)
                rest.append(.literal(known))
            case .pending(let operand): rest.append(operand)
            }
        }
        return values.count == operands.count
            ? .value(value(values), fromExpansion: false) : .pending(pending(rest))
    }

    // MARK: Three-valued logic

    static func all(_ members: [Condition]) -> Condition {
        var rest: [Condition] = []
        for member in members {
            switch member {
            case .constant(.yes): continue
            case .constant(.no): return .no
            default: rest.append(member)
            }
        }
        if rest.allSatisfy({ $0 == .unknown }) { return rest.isEmpty ? .yes : .unknown }
        return rest.count == 1 ? rest[0] : .all(rest)
    }

    static func any(_ members: [Condition]) -> Condition {
        var rest: [Condition] = []
        for member in members {
            switch member {
            case .constant(.no): continue
            case .constant(.yes): return .yes
            default: rest.append(member)
            }
        }
        if rest.allSatisfy({ $0 == .unknown }) { return rest.isEmpty ? .no : .unknown }
        return rest.count == 1 ? rest[0] : .any(rest)
    }

    static func not(_ member: Condition) -> Condition {
        switch member {
        case .constant(let truth): .constant(truth.negated)
        case .not(let inner): inner
        default: .not(member)
        }
    }
}
