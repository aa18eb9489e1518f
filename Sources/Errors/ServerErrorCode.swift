/// A numeric error code of the MongoDB server, with its name where it has one.
///
/// Drivers and tests branch on the number, so an error about the query language carries it beside
/// the text. Source: `reference/mql.md` §7; `documentdb/functional-tests` `framework/error_codes.py`.
public struct ServerErrorCode: Sendable, Hashable {
    /// The number, for example 11000.
    public let number: Int

    /// The code with this number, named here or not.
    public init(_ number: Int) {
        self.number = number
    }

    /// `BadValue`: an operand of the right type but a wrong value.
    public static let badValue = ServerErrorCode(2)
    /// `FailedToParse`: a filter, update or stage is put together wrongly.
    public static let failedToParse = ServerErrorCode(9)
    /// `Unauthorized`: the caller may not do what is asked.
    public static let unauthorized = ServerErrorCode(13)
    /// `TypeMismatch`: an argument or a stored value has another type than an operator needs.
    public static let typeMismatch = ServerErrorCode(14)
    /// `Overflow`: a number, or the depth of a document, leaves what its type can hold.
    public static let overflow = ServerErrorCode(15)
    /// `IllegalOperation`: what is asked is never allowed in this place.
    public static let illegalOperation = ServerErrorCode(20)
    /// `PathNotViable`: an update would have to create a field inside a value that has none.
    public static let pathNotViable = ServerErrorCode(28)
    /// `ConflictingUpdateOperators`: two operators write the same path, or one inside the other.
    public static let conflictingUpdateOperators = ServerErrorCode(40)
    /// `MaxTimeMSExpired`: the time for the request ran out.
    public static let maxTimeMSExpired = ServerErrorCode(50)
    /// `DollarPrefixedFieldName`: a key that begins with `$` where one cannot be stored.
    public static let dollarPrefixedFieldName = ServerErrorCode(52)
    /// `InvalidIdField`: an `_id` of a type that identifies nothing, such as an array.
    public static let invalidIdField = ServerErrorCode(53)
    /// `NotSingleValueField`: an upsert finds two values for one path in its filter.
    public static let notSingleValueField = ServerErrorCode(54)
    /// `EmptyFieldName`: a path with nothing between two dots.
    public static let emptyFieldName = ServerErrorCode(56)
    /// `ImmutableField`: an update would change `_id`.
    public static let immutableField = ServerErrorCode(66)
    /// `WriteConflict`: another writer changed the document first.
    public static let writeConflict = ServerErrorCode(112)
    /// `DocumentValidationFailure`: the document does not satisfy the schema of its collection.
    public static let documentValidationFailure = ServerErrorCode(121)
    /// `InvalidPipelineOperator`: an expression calls an operator that MongoDB does not know.
    public static let invalidPipelineOperator = ServerErrorCode(168)
    /// `ConversionFailure`: a value has no equivalent in the type asked for.
    public static let conversionFailure = ServerErrorCode(241)
    /// `ExceededMemoryLimit`: a stage would hold more than it may.
    public static let exceededMemoryLimit = ServerErrorCode(292)
    /// `BSONObjectTooLarge`: a document of more than 16 MiB.
    public static let bsonObjectTooLarge = ServerErrorCode(10334)
    /// `DuplicateKey`: a document with this `_id` exists.
    public static let duplicateKey = ServerErrorCode(11000)

    private static let names: [Int: String] = [
        2: "BadValue", 9: "FailedToParse", 13: "Unauthorized", 14: "TypeMismatch", 15: "Overflow",
        16: "InvalidLength", 20: "IllegalOperation",
        26: "NamespaceNotFound", 27: "IndexNotFound", 28: "PathNotViable",
        40: "ConflictingUpdateOperators", 50: "MaxTimeMSExpired", 52: "DollarPrefixedFieldName",
        53: "InvalidIdField", 54: "NotSingleValueField", 56: "EmptyFieldName", 66: "ImmutableField",
        67: "CannotCreateIndex", 72: "InvalidOptions", 73: "InvalidNamespace", 85: "IndexOptionsConflict",
        86: "IndexKeySpecsConflict",
        112: "WriteConflict", 115: "CommandNotSupported", 121: "DocumentValidationFailure",
        146: "ExceededMemoryLimit", 168: "InvalidPipelineOperator", 171: "CannotIndexParallelArrays",
        224: "QueryFeatureNotAllowed", 238: "NotImplemented", 241: "ConversionFailure",
        291: "NoQueryExecutionPlans", 292: "QueryExceededMemoryLimitNoDiskUseAllowed",
        10334: "BSONObjectTooLarge",
        11000: "DuplicateKey",
    ]

    /// The code's name, or `Location<number>` as MongoDB writes it for codes without one.
    public var name: String { Self.names[number] ?? "Location\(number)" }
}
