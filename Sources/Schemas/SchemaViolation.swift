/// One way in which a document does not fit its schema.
public struct SchemaViolation: Sendable, Hashable {
    /// What was violated; the raw values are those of the bulk validation report, `rules.md` §14.4.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case required
        case invalidType = "invalid_type"
        case missingDependency = "missing_dependency"
        case `enum`
        case numberAnyOf = "number_any_of"
        case numberOneOf = "number_one_of"
        case numberAllOf = "number_all_of"
        case numberNot = "number_not"
        case numberGreaterOrEqual = "number_gte"
        case numberGreater = "number_gt"
        case numberLessOrEqual = "number_lte"
        case numberLess = "number_lt"
        case multipleOf = "multiple_of"
        case unique
        case arrayNoAdditionalItems = "array_no_additional_items"
        case arrayMinItems = "array_min_items"
        case arrayMaxItems = "array_max_items"
        case arrayMinProperties = "array_min_properties"
        case arrayMaxProperties = "array_max_properties"
        case additionalPropertyNotAllowed = "additional_property_not_allowed"
        case stringMinLength = "string_gte"
        case stringMaxLength = "string_lte"
        case pattern
        /// A `validate` expression is not true.
        case conditionFailed = "false"
        /// The check itself gave up (a pattern that takes too long); counts as a failure.
        case `internal`
    }

    /// The value: `(root).machine.name`, `(root).tags.3`.
    public let path: String
    /// What was violated, for programs.
    public let code: Code
    /// One sentence, for the log.
    public let message: String

    /// A violation at a place.
    public init(path: String, code: Code, message: String) {
        self.path = path
        self.code = code
        self.message = message
    }
}

/// How strictly null is taken; see `rules.md` §14.3.
public struct SchemaOptions: Sendable, Hashable {
    /// The setting "Null Type Schema Validation": an optional field may be null.
    public var allowsNullForOptionalFields: Bool

    /// The setting; off unless an app turns it on.
    public init(allowsNullForOptionalFields: Bool = false) {
        self.allowsNullForOptionalFields = allowsNullForOptionalFields
    }
}
