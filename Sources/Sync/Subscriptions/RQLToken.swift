import BSON

/// A word of the query language that devices speak.
enum RQLToken: Sendable, Hashable {
    /// A name that no keyword is.
    case name(String)
    /// In upper case; the text as it was, since some keywords are names too.
    case keyword(Keyword, String)
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`.
    case comparison(RQLComparison)
    /// Digits with a sign, point and exponent.
    case number(String)
    case string(String)
    case binaryText([UInt8])
    case date(SyncTimestamp)
    case objectID(ObjectID)
    case uuid(UUIDBytes)
    /// `$0`, which stands for a value that did not come along.
    case argument(String)
    /// `[c]`
    case ignoringCase
    /// `@count`, `@sum` …
    case function(String)
    /// One of `+-*/.,(){}[]`.
    case sign(UInt8)

    /// Words with a meaning.
    enum Keyword: String, Sendable, CaseIterable {
        case and = "AND"
        case or = "OR"
        case not = "NOT"
        case any = "ANY"
        case all = "ALL"
        case none = "NONE"
        case inside = "IN"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case contains = "CONTAINS"
        case like = "LIKE"
        case text = "TEXT"
        case between = "BETWEEN"
        case geoWithin = "GEOWITHIN"
        case truePredicate = "TRUEPREDICATE"
        case falsePredicate = "FALSEPREDICATE"
        case sort = "SORT"
        case distinct = "DISTINCT"
        case limit = "LIMIT"
        case binary = "BINARY"
        case object = "OBJ"
        case subquery = "SUBQUERY"
        case yes = "TRUE"
        case no = "FALSE"
        case null = "NULL"
        case infinity = "INFINITY"
        case notANumber = "NAN"

        /// Whether the word is one in capitals or small letters only, and a name otherwise.
        ///
        /// As in the lexer of the client's library.
        var isPlainCase: Bool {
            switch self {
            case .not, .any, .all, .none, .inside, .yes, .no: true
            default: false
            }
        }

        /// Whether a property may have the name.
        var isName: Bool {
            switch self {
            case .beginsWith, .endsWith, .contains, .like, .between, .sort, .distinct, .limit, .inside, .text,
                .binary:
                true
            default: false
            }
        }

        /// The keyword that a word is; nil for a name.
        init?(word: String) {
            let upper = word.uppercased()
            let keyword: Keyword? =
                switch upper {
                case "SOME": .any
                case "NIL": .null
                case "INF": .infinity
                case "BIN": .binary
                default: Keyword(rawValue: upper)
                }
            guard let keyword, !keyword.isPlainCase || word == upper || word == word.lowercased() else {
                return nil
            }
            self = keyword
        }
    }
}

/// How two values are compared; the raw value is what is written.
enum RQLComparison: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// The same with the sides exchanged.
    var flipped: RQLComparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

/// What is wrong with a query's text.
struct RQLFault: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
