import MQL
import SQL

extension ComparisonOperator {
    var acceptsLess: Bool { self == .less || self == .lessOrEqual }
    var acceptsGreater: Bool { self == .greater || self == .greaterOrEqual }
    var acceptsEqual: Bool { self == .equal || self == .lessOrEqual || self == .greaterOrEqual }

    /// Whether a candidate that compares so (-1, 0, 1) with the operand satisfies.
    func accepts(_ order: Int) -> Bool {
        order < 0 ? acceptsLess : (order > 0 ? acceptsGreater : acceptsEqual)
    }

    /// The operator of the path language.
    var pathText: String {
        switch self {
        case .equal: "=="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .less: "<"
        case .lessOrEqual: "<="
        }
    }

    /// The operator of SQL between two operands.
    func sql(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment {
        switch self {
        case .equal: "\(left) = \(right)"
        case .greater: "\(left) > \(right)"
        case .greaterOrEqual: "\(left) >= \(right)"
        case .less: "\(left) < \(right)"
        case .lessOrEqual: "\(left) <= \(right)"
        }
    }
}
