public import MQL

/// How much of an operation SQL decides.
public enum PushdownGrade: String, Sendable {
    /// All of it: what comes back is the answer.
    case exact
    /// SQL narrows; what comes back is evaluated again.
    case superset
    /// SQL says nothing: every document is read and evaluated.
    case none
}

extension Condition {
    var grade: PushdownGrade {
        if isExact { return .exact }
        return terms.isEmpty ? .none : .superset
    }
}

extension QueryCompiler {
    /// How much SQL decides of a filter, the rules aside.
    public func grade(_ filter: Filter) -> PushdownGrade {
        filters.compile(filter).grade
    }

    /// How much SQL decides of what a write matches.
    public func writeGrade(_ filter: Filter) -> PushdownGrade {
        writeCondition(filter).grade
    }
}
