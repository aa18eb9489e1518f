public import BSON

extension UserProfile.Identity {
    /// An identity's id where the provider gives none: `<24 hex>-<24 lowercase letters>`.
    ///
    /// Source: `reference/client-api.md` §5.
    public static func makeID(
        _ objectID: ObjectID,
        random: inout some RandomNumberGenerator
    ) -> String {
        var letters: [UInt8] = []
        letters.reserveCapacity(24)
        for _ in 0..<24 {
            letters.append(UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z"), using: &random))
        }
        return objectID.hex + "-" + String(decoding: letters, as: UTF8.self)
    }
}

extension BSONDocument {
    /// The union of several identities' data; a later identity's field wins.
    public static func union(_ documents: [BSONDocument]) -> BSONDocument {
        var union = BSONDocument()
        for document in documents {
            for field in document { union[field.key] = field.value }
        }
        return union
    }
}
