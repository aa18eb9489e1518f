/// How an operator takes its operands, and with which codes it refuses others.
enum OperatorForm {
    /// By position; a value that is no array is the only operand. Exactly this many.
    case exactly(Int)
    /// By position, at least and at most.
    case between(Int, Int)
    /// By position, any number.
    case any
    /// By name, in an object.
    case named(NamedForm)
    /// A date alone, `[date]` or `{date, timezone}`.
    case datePart
    /// With a reading of its own in ``ExpressionParser``.
    case special
}

/// The names that an operator takes, with MongoDB's codes for what goes wrong.
struct NamedForm {
    /// Names that must be there, each with the code for its absence.
    let required: [(name: String, code: Int)]
    let optional: [String]
    /// The code when the operand is no object.
    let notObject: Int
    /// The code for a name that the operator does not know.
    let unknown: Int

    func contains(_ name: String) -> Bool {
        required.contains { $0.name == name } || optional.contains(name)
    }
}

extension ExpressionOperator {
    /// How the operator takes its operands.
    var form: OperatorForm {
        switch self {
        case .add, .multiply, .and, .or, .concat, .concatArrays, .setUnion, .setIntersection,
            .mergeObjects, .sum, .average, .minimum, .maximum, .standardDeviationPopulation,
            .standardDeviationSample, .bitAnd, .bitOr, .bitXor:
            .any
        case .subtract, .divide, .modulo, .power, .logarithm, .arcTangent2, .equal, .notEqual,
            .greater, .greaterOrEqual, .less, .lessOrEqual, .compare, .split, .compareIgnoringCase,
            .elementAt, .inside, .setDifference, .setIsSubset:
            .exactly(2)
        case .absolute, .ceiling, .floor, .squareRoot, .exponential, .naturalLogarithm,
            .decimalLogarithm, .bitNot, .sine, .cosine, .tangent, .arcSine, .arcCosine,
            .arcTangent, .hyperbolicSine, .hyperbolicCosine, .hyperbolicTangent,
            .inverseHyperbolicSine, .inverseHyperbolicCosine, .inverseHyperbolicTangent,
            .degreesToRadians, .radiansToDegrees, .not, .toLower, .toUpper, .lengthBytes,
            .lengthCodePoints, .size, .first, .last, .isArray, .reverseArray, .arrayToObject,
            .objectToArray, .anyElementTrue, .allElementsTrue, .timestampSecond,
            .timestampIncrement, .type, .isNumber, .toString, .toInt, .toLong, .toDouble,
            .toDecimal, .toBool, .toDate, .toObjectID, .toUUID, .binarySize, .bsonSize:
            .exactly(1)
        case .substring, .substringBytes, .substringCodePoints: .exactly(3)
        case .round, .truncate: .between(1, 2)
        case .slice, .range: .between(2, 3)
        case .indexOfBytes, .indexOfCodePoints, .indexOfArray: .between(2, 4)
        case .condition, .ifNull, .setEquals, .getField, .setField, .unsetField, .sortArray, .zip,
            .random, .median, .percentile, .sigmoid:
            .special
        case .trim, .trimStart, .trimEnd:
            .named(
                NamedForm(
                    required: [("input", 50695)],
                    optional: ["chars"],
                    notObject: 50696,
                    unknown: 50694
                )
            )
        case .replaceOne, .replaceAll:
            .named(
                NamedForm(
                    required: [("input", 51749), ("find", 51748), ("replacement", 51747)],
                    optional: [],
                    notObject: 51751,
                    unknown: 51750
                )
            )
        case .regexMatch, .regexFind, .regexFindAll:
            .named(
                NamedForm(
                    required: [("input", 31022), ("regex", 31023)],
                    optional: ["options"],
                    notObject: 51103,
                    unknown: 31024
                )
            )
        case .firstN, .lastN, .minimumN, .maximumN:
            .named(
                NamedForm(
                    required: [("n", 5_787_906), ("input", 5_787_907)],
                    optional: [],
                    notObject: 5_787_900,
                    unknown: 5_787_901
                )
            )
        case .year, .month, .dayOfMonth, .dayOfWeek, .dayOfYear, .hour, .minute, .second,
            .millisecond, .week, .isoWeek, .isoWeekYear, .isoDayOfWeek:
            .datePart
        case .dateToString:
            .named(
                NamedForm(
                    required: [("date", 18628)],
                    optional: ["format", "timezone", "onNull"],
                    notObject: 18629,
                    unknown: 18534
                )
            )
        case .dateFromString:
            .named(
                NamedForm(
                    required: [("dateString", 40542)],
                    optional: ["format", "timezone", "onError", "onNull"],
                    notObject: 40540,
                    unknown: 40541
                )
            )
        case .dateToParts:
            .named(
                NamedForm(
                    required: [("date", 40522)],
                    optional: ["timezone", "iso8601"],
                    notObject: 40524,
                    unknown: 40520
                )
            )
        case .dateFromParts: .special
        case .dateAdd, .dateSubtract:
            .named(
                NamedForm(
                    required: [("startDate", 5_166_402), ("unit", 5_166_402), ("amount", 5_166_402)],
                    optional: ["timezone"],
                    notObject: 5_166_400,
                    unknown: 5_166_401
                )
            )
        case .dateDiff:
            .named(
                NamedForm(
                    required: [("startDate", 5_166_303), ("endDate", 5_166_304), ("unit", 5_166_305)],
                    optional: ["timezone", "startOfWeek"],
                    notObject: 5_166_301,
                    unknown: 5_166_302
                )
            )
        case .dateTrunc:
            .named(
                NamedForm(
                    required: [("date", 5_439_009), ("unit", 5_439_010)],
                    optional: ["binSize", "timezone", "startOfWeek"],
                    notObject: 5_439_007,
                    unknown: 5_439_008
                )
            )
        case .convert:
            .named(
                NamedForm(
                    required: [("input", 9), ("to", 9)],
                    optional: ["onError", "onNull", "format", "byteOrder"],
                    notObject: 9,
                    unknown: 9
                )
            )
        }
    }

    /// Whether this is `$toInt` or a relative, which have a code of their own for a wrong count.
    var isConversion: Bool {
        switch self {
        case .toString, .toInt, .toLong, .toDouble, .toDecimal, .toBool, .toDate, .toObjectID, .toUUID: true
        default: false
        }
    }

    /// Operators that MongoDB has and tidegate refuses by name.
    static let unserved: Set<String> = [
        "$function", "$accumulator", "$sampleRate", "$toHashedIndexKey", "$createObjectId",
        "$encStrContains", "$encStrEndsWith",
        "$encStrNormalizedEq", "$encStrStartsWith", "$similarityCosine", "$similarityDotProduct",
        "$similarityEuclidean", "$serializeEJSON", "$deserializeEJSON", "$hash", "$hexHash",
        "$subtype", "$currentDate", "$toObject", "$toArray", "$rank", "$denseRank",
        "$documentNumber", "$shift", "$derivative", "$integral", "$expMovingAvg", "$covariancePop",
        "$covarianceSamp", "$linearFill", "$locf", "$minMaxScaler",
    ]
}
