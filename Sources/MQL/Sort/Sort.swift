public import BSON

/// The order of results: paths with directions, at most 32.
public struct Sort: Sendable, Hashable {
    public struct Key: Sendable, Hashable {
        public let path: FieldPath
        public let ascending: Bool

        public init(path: FieldPath, ascending: Bool) {
            self.path = path
            self.ascending = ascending
        }
    }

    public let keys: [Key]

    public init(keys: [Key]) {
        self.keys = keys
    }
}
