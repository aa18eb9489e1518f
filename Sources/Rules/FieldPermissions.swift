/// Read and write of single fields, for roles that do not decide on whole documents.
///
/// Source: `rules.md` §2.
public struct FieldPermissions: Sendable {
    /// The permission of one field and what is inside it.
    public struct Entry: Sendable {
        /// The field.
        public let name: String
        /// An absent one counts as false, unless ``fields`` decides.
        public let read: RuleExpression?
        /// As ``read``; it implies read.
        public let write: RuleExpression?
        /// Embedded fields; consulted only where neither ``read`` nor ``write`` stands.
        public let fields: [Entry]

        /// The permission of one field.
        public init(name: String, read: RuleExpression?, write: RuleExpression?, fields: [Entry] = []) {
            self.name = name
            self.read = read
            self.write = write
            self.fields = fields
        }
    }

    /// The fields that the role names.
    public let entries: [Entry]
    /// All other fields; nil denies them.
    public let additional: Entry?

    /// Named fields and the rest.
    public init(entries: [Entry] = [], additional: Entry? = nil) {
        self.entries = entries
        self.additional = additional
    }
}
