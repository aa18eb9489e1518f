public import BSON

/// What an evaluation knows beside the document: the time, variables, and what it may spend.
public struct EvaluationContext: Sendable {
    /// `$$NOW`, in milliseconds since 1970; one reading for the whole operation.
    public var now: Int64
    /// What the evaluations of one operation may spend together.
    public let meter: EvaluationMeter
    /// Where `$rand` and `$sample` draw from.
    public let random: RandomSource
    /// How texts compare; nil is by their bytes.
    public var collation: Collation?
    /// `$$CURRENT` where it is not the root: inside `$redact` and a `$let` that rebinds it.
    var current: BSONValue?
    /// Whether this is inside `$group` or `$bucket`, which MongoDB runs in another engine with other codes for some
    /// errors; `$bucketAuto` is not among them.
    private(set) var isGrouping = false
    /// Variables in scope, the innermost last; a nil value is a missing one.
    private var variables: [(name: String, value: BSONValue?)] = []

    /// A context without user variables.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970, UTC.
    ///   - seed: Where the random sequence begins; the same seed gives the same answers.
    ///   - meter: Shared by all evaluations of one operation.
    public init(now: Int64, seed: UInt64? = nil, meter: EvaluationMeter = EvaluationMeter()) {
        self.now = now
        self.meter = meter
        random = RandomSource(seed: seed ?? UInt64(bitPattern: now))
    }

    /// The same context inside `$group`.
    var grouping: EvaluationContext {
        var copy = self
        copy.isGrouping = true
        return copy
    }

    /// The same context with one more variable, which hides an older one of that name.
    public func binding(_ name: String, to value: BSONValue?) -> EvaluationContext {
        var copy = self
        copy.bind(name, to: value)
        return copy
    }

    /// Adds a variable, or replaces the innermost one when it has that name.
    mutating func bind(_ name: String, to value: BSONValue?) {
        if name == "CURRENT" { current = value ?? .undefined }
        variables.append((name, value))
    }

    /// Gives the innermost variables new values, by position from `depth`; for loops that bind the
    /// same names again and again.
    mutating func rebind(_ index: Int, to value: BSONValue?) {
        if variables[index].name == "CURRENT" { current = value ?? .undefined }
        variables[index].value = value
    }

    /// How many variables are bound.
    var depth: Int { variables.count }

    /// The value of a user's variable: nil when no such variable is bound, `.some(nil)` when it is
    /// bound to a missing value.
    public func variable(_ name: String) -> BSONValue?? {
        for variable in variables.reversed() where variable.name == name { return .some(variable.value) }
        return nil
    }
}
