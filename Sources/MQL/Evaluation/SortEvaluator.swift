public import BSON

extension Sort {
    /// -1, 0 or 1: the order of two documents.
    public func compare(_ first: BSONDocument, _ second: BSONDocument) -> Int { 0 }

    /// The documents in order; with a limit, the first so many of them.
    public func sorted(_ documents: [BSONDocument], limit: Int? = nil) -> [BSONDocument] { documents }
}
