import SQL

/// All SQL about the hosts that functions may call.
enum OutboundStatements {
    /// The list of one app and that of all: whether it allows, pattern.
    static func hosts(app: String) -> SQLFragment {
        "SELECT allowed, pattern FROM tidegate.outbound_hosts WHERE app IS NULL OR app = \(bind: .text(app))"
    }
}
