import BSON
import Errors

/// Set operators: arrays by BSON's equality, without order or repetition.
extension OperatorEvaluator {
    func set(_ op: ExpressionOperator, _ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        switch op {
        case .setUnion:
            return try Self.setUnion(values, context) { (value) throws(ServiceError) in
                .mongo(
                    17043,
                    "All operands of $setUnion must be arrays. One argument is of type: \(known: TypeName.of(value))"
                )
            }
        case .setIntersection:
            var arrays: [[BSONValue]] = []
            for value in values {
                guard let value, !value.isNullish else { return .null }
                guard case .array(let elements) = value else {
                    throw .mongo(
                        17047,
                        "All operands of $setIntersection must be arrays. One argument is of type: \(known: TypeName.of(value))"
                    )
                }
                arrays.append(elements)
            }
            guard let first = arrays.first else { return .array([]) }
            let others = arrays.dropFirst().map { Set($0.map { context.key($0) }) }
            var seen = Set<BSONKey>()
            return .array(
                first.filter { element in
                    let key = context.key(element)
                    return others.allSatisfy { $0.contains(key) } && seen.insert(key).inserted
                }
            )
        case .setDifference:
            guard let left = values[0], let right = values[1], !left.isNullish, !right.isNullish else {
                return .null
            }
            let first = try elements(left, "both operands of $setDifference must be arrays. First", 17048)
            let second = try elements(right, "both operands of $setDifference must be arrays. Second", 17049)
            var seen = Set(second.map { context.key($0) })
            return .array(first.filter { seen.insert(context.key($0)).inserted })
        case .setEquals:
            var sets: [Set<BSONKey>] = []
            for (index, value) in values.enumerated() {
                guard case .array(let elements)? = value else {
                    throw .mongo(
                        17044,
                        "All operands of $setEquals must be arrays. \(index + 1)-th argument is of type: \(known: TypeName.of(value))"
                    )
                }
                sets.append(Set(elements.map { context.key($0) }))
            }
            return .bool(sets.dropFirst().allSatisfy { $0 == sets[0] })
        case .setIsSubset:
            let first = try elements(values[0], "both operands of $setIsSubset must be arrays. First", 17046)
            let second = try elements(
                values[1],
                "both operands of $setIsSubset must be arrays. Second",
                17042
            )
            return .bool(Set(first.map { context.key($0) }).isSubset(of: second.map { context.key($0) }))
        case .anyElementTrue:
            guard case .array(let elements)? = values[0] else {
                throw .mongo(
                    17041,
                    "$anyElementTrue's argument must be an array, but is \(known: TypeName.of(values[0]))"
                )
            }
            return .bool(elements.contains(where: \.isTruthy))
        default:
            guard case .array(let elements)? = values[0] else {
                throw .mongo(
                    17040,
                    "$allElementsTrue's argument must be an array, but is \(known: TypeName.of(values[0]))"
                )
            }
            return .bool(elements.allSatisfy(\.isTruthy))
        }
    }

    /// The distinct elements of all arrays, in order of appearance; null when any operand is.
    static func setUnion(
        _ values: [BSONValue?],
        _ context: EvaluationContext,
        refusal: (BSONValue) throws(ServiceError) -> ServiceError
    ) throws(ServiceError) -> BSONValue {
        var seen = Set<BSONKey>()
        var result: [BSONValue] = []
        for value in values {
            guard let value, !value.isNullish else { return .null }
            guard case .array(let elements) = value else { throw try refusal(value) }
            for element in elements where seen.insert(context.key(element)).inserted {
                result.append(element)
            }
        }
        return .array(result)
    }

    private func elements(_ value: BSONValue?, _ subject: String, _ code: Int) throws(ServiceError)
        -> [BSONValue]
    {
        guard case .array(let elements)? = value else {
            throw .mongo(code, "\(subject) argument is of type: \(known: TypeName.of(value))")
        }
        return elements
    }
}
