/// Bounds on what a reader of this room accepts, so that a small input cannot cost much.
public struct ReadLimits: Sendable, Hashable {
    /// How deep documents and arrays may be nested; the outermost one is level 1.
    public var depth: Int
    /// How many values there may be in all, containers included.
    public var nodes: Int
    /// How long a field name may be, in bytes.
    public var keyBytes: Int
    /// How long a binary document may be, in bytes.
    public var documentBytes: Int

    /// Takes the standard bound for what is left out.
    public init(
        depth: Int = 100,
        nodes: Int = 4_000_000,
        keyBytes: Int = 1 << 20,
        documentBytes: Int = BSONBinaryFormat.documentBytesLimit
    ) {
        self.depth = depth
        self.nodes = nodes
        self.keyBytes = keyBytes
        self.documentBytes = documentBytes
    }

    /// What requests are read with: MongoDB's 100 levels and 16 MiB.
    public static let standard = ReadLimits()
}
