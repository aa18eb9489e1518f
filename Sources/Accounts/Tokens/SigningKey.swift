/// A secret that an app's tokens are signed with.
public struct SigningKey: Sendable, Hashable {
    /// The token's `kid`.
    public let id: String
    /// At least 32 bytes.
    public let secret: [UInt8]
    /// Seconds since 1970 from which it signs.
    public let validFrom: Int64
    /// Seconds since 1970 from which it is no longer believed; nil for never.
    public let retiredAt: Int64?

    /// Made of its parts.
    public init(id: String, secret: [UInt8], validFrom: Int64, retiredAt: Int64?) {
        self.id = id
        self.secret = secret
        self.validFrom = validFrom
        self.retiredAt = retiredAt
    }
}

/// The keys of one app: the newest signs, all that are not retired are believed.
public struct SigningKeySet: Sendable, Hashable {
    /// 24 hexadecimal digits of the app.
    public let appID: String
    /// In the order in which they were made: two of the same second follow one another here.
    public let keys: [SigningKey]

    /// Made of its parts.
    public init(appID: String, keys: [SigningKey]) {
        self.appID = appID
        self.keys = keys
    }

    /// The newest key that is in force.
    ///
    /// A key made by a database whose clock is ahead of ours signs when
    /// there is no other.
    func signer(now: Int64) -> SigningKey? {
        let usable = keys.filter { ($0.retiredAt ?? .max) > now && $0.secret.count >= 32 }
        let begun = usable.filter { $0.validFrom <= now }
        var newest: SigningKey?
        for key in begun.isEmpty ? usable : begun where key.validFrom >= newest?.validFrom ?? .min {
            newest = key
        }
        return newest
    }

    /// Whether a key of that name is in the set, so that an unknown one can be looked for.
    public func contains(keyID: String) -> Bool {
        keys.contains { $0.id == keyID }
    }

    func verifier(_ id: String, now: Int64) -> SigningKey? {
        keys.first { $0.id == id && ($0.retiredAt ?? .max) > now && $0.secret.count >= 32 }
    }
}
