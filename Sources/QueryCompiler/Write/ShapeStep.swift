public import BSON
public import MQL

/// What an update does to the order of keys at one path: the unit that `tidegate.shape_steps` remembers.
///
/// A key that the document lacks comes last; for a shape that knows the key already (it may know more
/// keys than the document has) that means moving it, so the successor depends on shape and step alone.
struct ShapeStep {
    let path: [String]
    /// What is set; of values that SQL computes, which have no documents inside, null stands for any.
    let value: BSONValue

    /// The order inside the value; nil when it has none.
    var order: DocumentShape? { StoredText.order(of: value) }

    /// The step's name in the table: `+["a","b"]`, or `=["a"]["x","y"]` for a new order at an old place.
    func text(isNew: Bool) -> String {
        var bytes: [UInt8] = []
        ExtendedJSON.writeCanonical(.array(path.map { .string($0) }), to: &bytes)
        return (isNew ? "+" : "=") + String(decoding: bytes, as: UTF8.self) + (order?.text ?? "")
    }
}

/// The steps that an update takes in the order of keys, as SQL would take them.
public struct UpdateSteps {
    /// A step that a document makes the update take.
    public struct Step {
        /// Its name in `tidegate.shape_steps`.
        public let text: String
        private let path: [String]
        private let value: BSONValue
        private let isNew: Bool

        init(_ step: ShapeStep, isNew: Bool) {
            text = step.text(isNew: isNew)
            path = step.path
            value = step.value
            self.isNew = isNew
        }

        /// The shape after the step; nil where only the resulting document can tell.
        public func successor(of shape: DocumentShape) -> DocumentShape? {
            let start = isNew ? shape.settingPath(path, value: nil) : shape
            return start?.settingPath(path, value: value)
        }
    }

    private let steps: [ShapeStep]

    /// The steps that an update can take.
    ///
    /// - Parameters:
    ///   - update: The update; one that SQL does not take has no steps.
    ///   - now: Milliseconds since 1970, as for the statement.
    public init(_ update: Update, now: Int64) {
        steps = UpdateCompiler(now: now).compile(update)?.shapeSteps ?? []
    }

    /// The steps for one document as it is before the update; none for an update that SQL does not take.
    public func taken(on document: BSONDocument) -> [Step] {
        steps.compactMap { step in
            let isNew = !Self.has(document, step.path[...])
            return isNew || step.order != nil ? Step(step, isNew: isNew) : nil
        }
    }

    private static func has(_ document: BSONDocument, _ path: ArraySlice<String>) -> Bool {
        guard let key = path.first, let value = document[key] else { return false }
        if path.count == 1 { return true }
        return value.document.map { has($0, path.dropFirst()) } ?? false
    }
}
