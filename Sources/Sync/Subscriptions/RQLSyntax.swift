import BSON

/// A query as it is written, before anything is known of its names.
indirect enum RQLSyntax: Sendable {
    case constant(Bool)
    case and([RQLSyntax])
    case or([RQLSyntax])
    case not(RQLSyntax)
    case compare(RQLOperand, RQLComparison, RQLOperand, ignoresCase: Bool)
    case inside(RQLOperand, RQLOperand, ignoresCase: Bool)
    case between(RQLOperand, [RQLLiteral])
    case text(RQLOperand, RQLTextTest, RQLOperand, ignoresCase: Bool)
}

/// What is asked of a text; the raw value is the keyword.
enum RQLTextTest: String, Sendable {
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
}

/// How many elements of a collection must satisfy.
enum RQLQuantifier: Sendable {
    case any
    case all
    case none
}

/// One side of a comparison.
enum RQLOperand: Sendable {
    /// A property by its path; perhaps how many elements it has.
    case property(path: [String], quantifier: RQLQuantifier?, isCount: Bool)
    case literal(RQLLiteral)
    case list([RQLLiteral], quantifier: RQLQuantifier?)
}

/// A value in a query.
indirect enum RQLLiteral: Sendable {
    case null
    case bool(Bool)
    /// As it is written, so that decimals keep their digits.
    case number(String)
    case string(String)
    case binary([UInt8])
    case date(SyncTimestamp)
    case objectID(ObjectID)
    case uuid(UUIDBytes)
    case object(table: String, key: RQLLiteral)

    /// The type in messages.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .number: "number"
        case .string: "string"
        case .binary: "binary"
        case .date: "date"
        case .objectID: "objectId"
        case .uuid: "uuid"
        case .object: "link"
        }
    }
}
