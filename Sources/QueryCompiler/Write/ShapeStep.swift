public import BSON

/// What an update does to the order of keys at one path: the unit that `tidegate.shape_steps` remembers.
///
/// A key that the document lacks comes last; for a shape that knows the key already (it may know more
/// keys than the document has) that means moving it, so the successor depends on shape and step alone.
public struct ShapeStep: Sendable {
    public let path: [String]
    /// The order inside the value that is set; nil when it has none.
    public let order: DocumentShape?

    /// The step's name in the table: `+["a","b"]`, or `=["a"]["x","y"]` for a new order at an old place.
    public func text(isNew: Bool) -> String {
        var bytes: [UInt8] = []
        ExtendedJSON.writeCanonical(.array(path.map { .string($0) }), to: &bytes)
        return (isNew ? "+" : "=") + String(decoding: bytes, as: UTF8.self) + (order?.text ?? "")
    }

    /// The shape after the step.
    ///
    /// - Parameter value: What is set, for the order inside it.
    /// - Returns: nil where only the resulting document can tell.
    static func successor(of shape: DocumentShape, path: [String], value: BSONValue, isNew: Bool) -> DocumentShape? {
        guard isNew else { return shape.settingPath(path, value: value) }
        return shape.settingPath(path, value: nil)?.settingPath(path, value: value)
    }
}
