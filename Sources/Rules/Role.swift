/// What some callers may do, and which callers and documents it is for.
///
/// Source: `rules.md` §2.
public struct Role: Sendable {
    /// A gate in front of all permissions of the role.
    public struct DocumentFilters: Sendable {
        /// Must hold for reads, unless ``write`` does.
        public let read: RuleExpression?
        /// Must hold for writes, before and after.
        public let write: RuleExpression?

        /// Both halves as they stand in the file.
        public init(read: RuleExpression?, write: RuleExpression?) {
            self.read = read
            self.write = write
        }
    }

    /// Unique in the collection; it appears in the log.
    public let name: String
    /// Which callers and documents the role is for.
    public let applyWhen: RuleExpression
    /// nil where the role has no gate at all.
    public let documentFilters: DocumentFilters?
    /// nil goes down to field permissions; false does not.
    public let read: RuleExpression?
    /// As ``read``; it implies read.
    public let write: RuleExpression?
    /// nil is true (D2).
    public let insert: RuleExpression?
    /// As ``insert``.
    public let delete: RuleExpression?
    /// As ``insert``; kept for `$search`.
    public let search: RuleExpression?
    /// Asked where the permission of the whole document is absent.
    public let fields: FieldPermissions

    /// A role; what is left out is undefined, which is not the same as false.
    public init(
        name: String,
        applyWhen: RuleExpression = .constant(true),
        documentFilters: DocumentFilters? = nil,
        read: RuleExpression? = nil,
        write: RuleExpression? = nil,
        insert: RuleExpression? = nil,
        delete: RuleExpression? = nil,
        search: RuleExpression? = nil,
        fields: FieldPermissions = FieldPermissions()
    ) {
        self.name = name
        self.applyWhen = applyWhen
        self.documentFilters = documentFilters
        self.read = read
        self.write = write
        self.insert = insert
        self.delete = delete
        self.search = search
        self.fields = fields
    }
}
