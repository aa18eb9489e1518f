import Glibc

/// An IPv4 or IPv6 address as a number, so that it can be compared, masked and counted.
public struct NetworkAddress: Sendable, Hashable {
    /// The upper and lower half of the IPv6 address; IPv4 is `::ffff:a.b.c.d`.
    public let high: UInt64
    /// As ``high``.
    public let low: UInt64

    private static let mappedPrefix: UInt64 = 0xffff_0000_0000

    /// Made of its halves.
    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads an address as sockets and proxies write it: `192.0.2.1`, `::1`, `fe80::1%eth0`,
    /// `192.0.2.1:8080`, `[::1]:8080`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        var part = text.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        if part.first == "[" {
            guard let end = part.firstIndex(of: "]") else { return nil }
            part = part[part.index(after: part.startIndex)..<end]
        } else if let colon = part.firstIndex(of: ":"), part.contains("."),
            part[part.index(after: colon)...].allSatisfy(\.isNumber)
        {
            part = part[..<colon]
        }
        if let zone = part.firstIndex(of: "%") { part = part[..<zone] }
        let name = String(part)
        guard name.utf8.count <= 45 else { return nil }
        var four = in_addr()
        if inet_pton(AF_INET, name, &four) == 1 {
            high = 0
            low = Self.mappedPrefix | UInt64(UInt32(bigEndian: four.s_addr))
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, name, &six) == 1 else { return nil }
        (high, low) = withUnsafeBytes(of: &six) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// Whether this is an IPv4 address.
    public var isFour: Bool { high == 0 && low >> 32 == 0xffff }

    /// What is counted as one client: an IPv4 address, or the /64 that one IPv6 customer gets at least.
    public var client: NetworkAddress { isFour ? self : NetworkAddress(high: high, low: 0) }
}

/// A range of addresses in CIDR notation: `10.0.0.0/8`, `2001:db8::/32`, or one address.
public struct NetworkRange: Sendable, Hashable {
    private let base: NetworkAddress
    /// Of 128 bits.
    private let length: Int

    /// Reads a range; nil for anything else, also for bits beyond the prefix.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = NetworkAddress(parts[0]) else { return nil }
        var length = 128
        if parts.count == 2 {
            guard let bits = Int(parts[1]), bits >= 0, bits <= (address.isFour ? 32 : 128) else { return nil }
            length = address.isFour ? 96 + bits : bits
        }
        base = address
        self.length = length
        guard Self.masked(address, length) == address else { return nil }
    }

    /// Whether an address lies in the range.
    public func contains(_ address: NetworkAddress) -> Bool {
        Self.masked(address, length) == base
    }

    private static func masked(_ address: NetworkAddress, _ length: Int) -> NetworkAddress {
        // Shifts by 64 and more give 0 in Swift.
        let high = length >= 64 ? UInt64.max : ~(UInt64.max >> UInt64(length))
        let low = length <= 64 ? 0 : ~(UInt64.max >> UInt64(length - 64))
        return NetworkAddress(high: address.high & high, low: address.low & low)
    }
}
