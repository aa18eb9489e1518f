/// The operators of rule expressions.
///
/// `%` and `$` before the name mean the same.
///
/// Source: `rules.md` §8.3.
enum RuleOperator: String, CaseIterable {
    case eq
    case ne
    case gt
    case gte
    case lt
    case lte
    case `in`
    case nin
    case exists
    case all
    case and
    case or
    case not
    case nor
    case stringToOid
    case oidToString
    case stringToUuid
    case uuidToString
    case function

    /// Whether a key has the form of an operator, known or not.
    static func isOperator(_ key: String) -> Bool {
        (key.hasPrefix("%") && !key.hasPrefix("%%")) || key.hasPrefix("$")
    }

    /// The operator that a key names.
    init?(key: String) {
        guard Self.isOperator(key) else { return nil }
        self.init(rawValue: String(key.dropFirst()))
    }

    /// The change of type that the operator stands for.
    var conversion: Conversion? {
        switch self {
        case .stringToOid: .stringToOid
        case .oidToString: .oidToString
        case .stringToUuid: .stringToUuid
        case .uuidToString: .uuidToString
        case .eq, .ne, .gt, .gte, .lt, .lte, .in, .nin, .exists, .all, .and, .or, .not, .nor, .function: nil
        }
    }

    /// Whether it stands for a value by itself.
    var givesValue: Bool { self == .function || conversion != nil }
}
