public import BSON

/// A predicate on documents: the tree that a filter document parses to, and that rules resolve to.
///
/// Source: `reference/mql.md` §§2–3.
public indirect enum Filter: Sendable, Hashable {
    /// `{}`
    case all
    /// Matches nothing; rules resolve to it.
    case nothing
    /// `{$and: […]}`, and the implicit conjunction of a document's entries.
    case and([Filter])
    case or([Filter])
    case nor([Filter])
    /// One test on the candidates of one path.
    case field(FieldPath, FieldTest)
    /// `{$expr: …}`
    case expression(AggregationExpression)
    /// `{$jsonSchema: …}`, of the whole document.
    case schema(JSONSchema)
    /// `{$text: …}`, which SQL decides.
    case text(TextSearch)
}

/// One test on a path: it holds if any candidate satisfies it.
public indirect enum FieldTest: Sendable, Hashable {
    /// `{$eq: v}`, `{$gt: v}` … type-bracketed.
    case compare(ComparisonOperator, BSONValue)
    /// `{$in: […]}`
    case inside([FilterMember])
    /// `{$exists: true}`
    case exists(Bool)
    /// `{$type: [2, "int", "number"]}`
    case type(Set<BSONType>)
    /// `{$mod: [divisor, remainder]}`
    case modulo(divisor: Int64, remainder: Int64)
    /// `{$regex: "…"}` or a regex literal.
    case matches(RegexPattern)
    /// `{$all: […]}`: every member is matched as by equality.
    case all([FilterMember])
    /// `{$all: [{$elemMatch: …}, …]}`
    case allElements([ElementMatch])
    case elementMatch(ElementMatch)
    case size(Int)
    /// `{$bitsAllSet: mask}` and its three relatives; positions of the set bits.
    case bits(BitTest, positions: [Int])
    /// `{$ne: v}`, `{$nin: …}`, `{$not: {…}}`: not (all of the tests hold).
    case not([FieldTest])
}

/// A member of `$in` or `$all`: a value, or a regex that pattern-matches.
public enum FilterMember: Sendable, Hashable {
    case value(BSONValue)
    case pattern(RegexPattern)
}

/// The two forms of `$elemMatch`.
public indirect enum ElementMatch: Sendable, Hashable {
    /// Operators on the element as a value: `{$elemMatch: {$gt: 1, $lt: 5}}`.
    case value([FieldTest])
    /// Conditions on the element's fields: `{$elemMatch: {a: 1, b: 2}}`.
    case document(Filter)
}

/// How an operand is compared; the raw value is the operator.
public enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
    case equal = "$eq"
    case greater = "$gt"
    case greaterOrEqual = "$gte"
    case less = "$lt"
    case lessOrEqual = "$lte"
}

/// Which bits a mask asks for, and whether they are one or zero; the raw value is the operator.
public enum BitTest: String, Sendable, Hashable, CaseIterable {
    case allSet = "$bitsAllSet"
    case anySet = "$bitsAnySet"
    case allClear = "$bitsAllClear"
    case anyClear = "$bitsAnyClear"
}

/// A PCRE pattern with its options (`imsxu`), checked to compile when parsed.
public struct RegexPattern: Sendable, Hashable {
    /// The expression, without delimiters.
    public let pattern: String
    /// Letters of `imsxu`, in alphabetical order.
    public let options: String

    /// The caller has checked that it compiles.
    public init(pattern: String, options: String) {
        self.pattern = pattern
        self.options = String(options.sorted())
    }

    /// Whether both are the same bytes.
    public static func == (left: RegexPattern, right: RegexPattern) -> Bool {
        TextOrder.equal(left.pattern, right.pattern) && TextOrder.equal(left.options, right.options)
    }

    /// Feeds the pattern's bytes.
    public func hash(into hasher: inout Hasher) {
        ByteText(pattern).hash(into: &hasher)
    }
}
