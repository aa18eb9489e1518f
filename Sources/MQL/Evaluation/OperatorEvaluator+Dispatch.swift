import BSON
import Errors

/// Which family evaluates which operator.
extension OperatorEvaluator {
    /// An operator whose operands are evaluated already.
    func evaluate(_ op: ExpressionOperator, values: [BSONValue?]) throws(ServiceError) -> BSONValue? {
        switch op {
        case .add, .subtract, .multiply, .divide, .modulo, .absolute, .ceiling, .floor, .round,
            .truncate, .power, .squareRoot, .exponential, .naturalLogarithm, .logarithm,
            .decimalLogarithm, .sigmoid, .bitAnd, .bitOr, .bitXor, .bitNot, .sine, .cosine, .tangent,
            .arcSine, .arcCosine, .arcTangent, .arcTangent2, .hyperbolicSine, .hyperbolicCosine,
            .hyperbolicTangent, .inverseHyperbolicSine, .inverseHyperbolicCosine,
            .inverseHyperbolicTangent, .degreesToRadians, .radiansToDegrees:
            return try arithmetic(op, values)
        case .equal, .notEqual, .greater, .greaterOrEqual, .less, .lessOrEqual, .compare:
            return comparison(op, values)
        case .concat, .toLower, .toUpper, .substring, .substringBytes, .substringCodePoints,
            .lengthBytes, .lengthCodePoints, .split, .indexOfBytes, .indexOfCodePoints,
            .compareIgnoringCase:
            return try text(op, values)
        case .size, .elementAt, .inside, .slice, .concatArrays, .first, .last, .indexOfArray, .isArray,
            .reverseArray, .range:
            return try array(op, values)
        case .setUnion, .setIntersection, .setDifference, .setEquals, .setIsSubset, .anyElementTrue,
            .allElementsTrue:
            return try set(op, values)
        case .mergeObjects, .objectToArray, .arrayToObject: return try object(op, values)
        case .timestampSecond, .timestampIncrement, .type, .isNumber, .toString, .toInt, .toLong,
            .toDouble, .toDecimal, .toBool, .toDate, .toObjectID, .toUUID, .binarySize, .bsonSize:
            return try type(op, values)
        case .sum, .average, .minimum, .maximum, .standardDeviationPopulation,
            .standardDeviationSample:
            return aggregate(op, values)
        case .median, .percentile: return percentiles(op, values)
        case .and, .or, .not, .condition, .ifNull, .random, .trim, .trimStart, .trimEnd, .replaceOne,
            .replaceAll, .regexMatch, .regexFind, .regexFindAll, .firstN, .lastN, .minimumN, .maximumN,
            .zip, .sortArray, .getField, .setField, .unsetField, .year, .month, .dayOfMonth, .dayOfWeek,
            .dayOfYear, .hour, .minute, .second, .millisecond, .week, .isoWeek, .isoWeekYear,
            .isoDayOfWeek, .dateToString, .dateFromString, .dateToParts, .dateFromParts, .dateAdd,
            .dateSubtract, .dateDiff, .dateTrunc, .convert:
            throw Self.misplaced(op)
        }
    }

    /// An operator with operands by name.
    func evaluate(_ op: ExpressionOperator, named expressions: [NamedExpression]) throws(ServiceError)
        -> BSONValue?
    {
        let operands = NamedOperands(evaluator: self, operands: expressions)
        switch op {
        case .trim, .trimStart, .trimEnd: return try trim(op, operands)
        case .replaceOne, .replaceAll: return try replace(op, operands)
        case .regexMatch, .regexFind, .regexFindAll: return try regex(op, operands)
        case .firstN, .lastN, .minimumN, .maximumN: return try arrayN(op, operands)
        case .zip: return try zip(operands)
        case .sortArray: return try sortArray(operands)
        case .getField: return try getField(operands)
        case .setField, .unsetField: return try setField(op, operands)
        case .convert: return try convert(operands)
        case .year, .month, .dayOfMonth, .dayOfWeek, .dayOfYear, .hour, .minute, .second, .millisecond,
            .week, .isoWeek, .isoWeekYear, .isoDayOfWeek, .dateToString, .dateFromString, .dateToParts,
            .dateFromParts, .dateAdd, .dateSubtract, .dateDiff, .dateTrunc:
            return try date(op, operands)
        default: throw Self.misplaced(op)
        }
    }

    /// For a tree that no parser makes: operands by name for an operator that takes them by
    /// position, or the other way round.
    private static func misplaced(_ op: ExpressionOperator) -> ServiceError {
        .mongo(.invalidPipelineOperator, "Unrecognized expression '\(op.rawValue)'")
    }
}
