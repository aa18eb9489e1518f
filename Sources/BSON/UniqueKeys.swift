/// Finds a repeated key while fields arrive: by comparison in small documents, by hash in wide ones.
struct UniqueKeys {
    private static let linearLimit = 12
    private var seen: Set<ByteText>?

    /// Whether no field so far has this key.
    @inline(__always)
    mutating func isNew(_ key: String, among fields: [BSONDocument.Field]) -> Bool {
        if fields.count < Self.linearLimit {
            for field in fields where TextOrder.equal(field.key, key) { return false }
            return true
        }
        return isNewHashed(key, among: fields)
    }

    @inline(never)
    private mutating func isNewHashed(_ key: String, among fields: [BSONDocument.Field]) -> Bool {
        if seen == nil { seen = Set(fields.map { ByteText(text: $0.key) }) }
        return seen?.insert(ByteText(text: key)).inserted ?? true
    }
}
