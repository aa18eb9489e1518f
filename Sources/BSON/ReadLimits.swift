/// Bounds on what a reader of this room accepts, so that a small input cannot cost much.
public struct ReadLimits: Sendable, Hashable {
    /// How deep documents and arrays may be nested; the outermost one is level 1.
    public var depth: Int
    /// How many values there may be in all, containers included.
    public var nodes: Int
    /// How many elements one array may have.
    public var elements: Int
    /// How long a field name may be, in bytes.
    public var keyBytes: Int
    /// How long a binary document may be, in bytes.
    public var documentBytes: Int

    /// Takes the standard bound for what is left out.
    public init(
        depth: Int = standardDepth,
        nodes: Int = 4_000_000,
        elements: Int = .max,
        keyBytes: Int = 1 << 20,
        documentBytes: Int = BSONBinaryFormat.documentBytesLimit
    ) {
        self.depth = depth
        self.nodes = nodes
        self.elements = elements
        self.keyBytes = keyBytes
        self.documentBytes = documentBytes
    }

    /// MongoDB's 200 levels below a command's own, and one for a value whose type is written beside it.
    public static let standardDepth = 202
    /// What files and stored texts are read with: MongoDB's levels and 16 MiB.
    public static let standard = ReadLimits()
    /// What requests are read with, unless settings say otherwise.
    public static let request = ReadLimits(nodes: 1_000_000, elements: 200_000, keyBytes: 4096)
}
