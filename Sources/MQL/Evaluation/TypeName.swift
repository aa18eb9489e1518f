import BSON

/// Names of types as MongoDB's messages write them.
enum TypeName {
    /// `int`, `string`, … or `missing`.
    static func of(_ value: BSONValue?) -> String { value?.type.alias ?? "missing" }
}
