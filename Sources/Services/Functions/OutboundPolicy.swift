/// Which hosts the functions of an app may call.
///
/// What an operator denies by name or address is refused, what one allows is served, wherever it is. What nobody
/// has named is served when its address is public, unless everything is denied.
struct OutboundPolicy: Sendable {
    /// One line of an operator's list.
    struct Entry: Sendable {
        let isAllowed: Bool
        let pattern: Pattern
    }

    /// What a line names.
    enum Pattern: Sendable {
        /// `*`
        case everything
        /// `api.example.com`
        case host(String)
        /// `*.example.com`: every name below it.
        case below(String)
        /// `10.1.0.0/16`
        case addresses(NetworkRange)

        /// Reads a pattern; the database has checked its form.
        init(_ text: String) {
            let name = text.lowercased()
            if name == "*" {
                self = .everything
            } else if name.hasPrefix("*.") {
                self = .below(String(name.dropFirst()))
            } else if let range = NetworkRange(name) {
                self = .addresses(range)
            } else {
                self = .host(name)
            }
        }

        func matches(_ host: String, _ address: NetworkAddress) -> Bool {
            switch self {
            case .everything: true
            case .host(let name): host == name
            case .below(let suffix): host.hasSuffix(suffix)
            case .addresses(let range): range.contains(address)
            }
        }

        var isEverything: Bool {
            if case .everything = self { true } else { false }
        }
    }

    let entries: [Entry]

    /// Whether a host, in lower case and without the dot at its end, may be called at the address that it has now.
    func permits(_ host: String, at address: NetworkAddress) -> Bool {
        let named = entries.filter { !$0.pattern.isEverything && $0.pattern.matches(host, address) }
        if named.contains(where: { !$0.isAllowed }) { return false }
        if !named.isEmpty { return true }
        if entries.contains(where: { $0.pattern.isEverything && !$0.isAllowed }) { return false }
        return address.isPublic
    }
}
