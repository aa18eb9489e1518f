/// What is wrong with something a device sent, as the protocol names it.
///
/// Source: `sync-semantics.md` §9.3.
public struct SyncFault: Error, Sendable, Hashable {
    /// The number and what the device is to do about it.
    public let code: SyncErrorCode
    /// For people: what was found, without another document's data.
    public let message: String
    /// With the migration of a partition: the query that stands for it.
    public var partitionQuery: String?
    /// With writes that were skipped: which.
    public var rejection: SyncErrorReport.Rejection?
    /// With a change of the schema's version: the one that the device had.
    public var previousSchemaVersion: Int64?

    /// A fault with its text.
    public init(_ code: SyncErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }
}
