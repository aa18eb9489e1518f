/// Which addresses keys may be fetched from.
public enum KeySetAddress {
    /// Whether an address is `https`, or `http` to this machine itself.
    ///
    /// Keys fetched in the clear from elsewhere could be anybody's. User information is refused: it
    /// serves only to make one host look like another.
    public static func isAllowed(_ address: String) -> Bool {
        guard address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), address.utf8.count <= 2048 else {
            return false
        }
        let lowered = address.lowercased()
        let secure = lowered.hasPrefix("https://")
        guard secure || lowered.hasPrefix("http://") else { return false }
        let authority = lowered.dropFirst(secure ? 8 : 7).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty, !authority.contains("@"), !authority.contains("\\") else { return false }
        if secure { return true }
        let host =
            authority.hasPrefix("[")
            ? String(authority.prefix { $0 != "]" }) + "]" : String(authority.prefix { $0 != ":" })
        return host == "localhost" || host == "127.0.0.1" || host == "[::1]"
    }
}
