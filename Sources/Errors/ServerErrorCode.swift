/// A numeric error code of the MongoDB server, with its name where it has one.
///
/// Drivers and tests branch on the number, so an error about the query language carries it beside
/// the text. Source: `reference/mql.md` §7; `documentdb/functional-tests` `framework/error_codes.py`.
public struct ServerErrorCode: Sendable, Hashable {
    /// The number, for example 11000.
    public let number: Int

    public init(_ number: Int) {
        self.number = number
    }

    public static let badValue = ServerErrorCode(2)
    public static let failedToParse = ServerErrorCode(9)
    public static let typeMismatch = ServerErrorCode(14)
    public static let overflow = ServerErrorCode(15)
    public static let illegalOperation = ServerErrorCode(20)
    public static let pathNotViable = ServerErrorCode(28)
    public static let conflictingUpdateOperators = ServerErrorCode(40)
    public static let maxTimeMSExpired = ServerErrorCode(50)
    public static let dollarPrefixedFieldName = ServerErrorCode(52)
    public static let invalidIdField = ServerErrorCode(53)
    public static let notSingleValueField = ServerErrorCode(54)
    public static let emptyFieldName = ServerErrorCode(56)
    public static let immutableField = ServerErrorCode(66)
    public static let writeConflict = ServerErrorCode(112)
    public static let documentValidationFailure = ServerErrorCode(121)
    public static let invalidPipelineOperator = ServerErrorCode(168)
    public static let conversionFailure = ServerErrorCode(241)
    public static let exceededMemoryLimit = ServerErrorCode(292)
    public static let bsonObjectTooLarge = ServerErrorCode(10334)
    public static let duplicateKey = ServerErrorCode(11000)

    private static let names: [Int: String] = [
        2: "BadValue", 9: "FailedToParse", 14: "TypeMismatch", 15: "Overflow", 20: "IllegalOperation",
        26: "NamespaceNotFound", 27: "IndexNotFound", 28: "PathNotViable",
        40: "ConflictingUpdateOperators", 50: "MaxTimeMSExpired", 52: "DollarPrefixedFieldName",
        53: "InvalidIdField", 54: "NotSingleValueField", 56: "EmptyFieldName", 66: "ImmutableField",
        112: "WriteConflict", 115: "CommandNotSupported", 121: "DocumentValidationFailure",
        168: "InvalidPipelineOperator", 238: "NotImplemented", 241: "ConversionFailure",
        292: "QueryExceededMemoryLimitNoDiskUseAllowed", 10334: "BSONObjectTooLarge",
        11000: "DuplicateKey",
    ]

    /// The code's name, or `Location<number>` as MongoDB writes it for codes without one.
    public var name: String { Self.names[number] ?? "Location\(number)" }
}
