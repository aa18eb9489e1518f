extension NetworkAddress {
    /// Whether everybody's internet knows it: neither this machine nor a network of somebody's own.
    var isPublic: Bool {
        if let inner = embedded { return inner.isPublic }
        return !Self.reserved.contains { $0.contains(self) }
    }

    /// The IPv4 address that an IPv6 one leads to: translated (RFC 6052) or 6to4 (RFC 3056).
    ///
    /// A mapped one is an IPv4 address already.
    private var embedded: NetworkAddress? {
        if Self.translated?.contains(self) == true {
            return NetworkAddress(four: UInt32(truncatingIfNeeded: low))
        }
        if Self.sixToFour?.contains(self) == true {
            return NetworkAddress(four: UInt32(truncatingIfNeeded: high >> 16))
        }
        return nil
    }

    private init(four: UInt32) {
        self.init(high: 0, low: 0xffff_0000_0000 | UInt64(four))
    }

    private static let translated = NetworkRange("64:ff9b::/96")
    private static let sixToFour = NetworkRange("2002::/16")
    /// The registries of special addresses, RFC 6890 and its successors.
    private static let reserved = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16",
        "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].compactMap { NetworkRange($0) }
}
