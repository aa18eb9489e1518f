public import BSON

/// Says what an object has in properties that its class got later.
///
/// Shape: with `Item.size` and `Part.color` known, and `Part.weight` new, `{size: 1, parts: [{color: "red", weight: 2}]}`
/// becomes `parts[0].weight = 2`. What the device knows is not said again, so that its own changes stay.
struct AdditionWriter {
    var state: StateWriter
    /// As ``ObjectMapping/propertyNames`` has them.
    let known: Set<String>

    /// An object, or one embedded in it.
    mutating func object(_ document: BSONDocument, _ type: SyncClass, at path: StateWriter.Path) {
        for property in type.properties {
            let value = document[property.name.text]
            if known.contains(Self.name(of: property, in: type)) {
                guard case .embedded(let name) = property.type, let inner = state.schema[name], let value
                else { continue }
                inside(value, property.collection, inner, at: path + [.key(property.name)])
            } else {
                state.field(property, value, at: path)
            }
        }
    }

    private mutating func inside(
        _ value: BSONValue,
        _ collection: CollectionKind,
        _ type: SyncClass,
        at path: StateWriter.Path
    ) {
        switch (collection, value) {
        case (.single, .document(let document)): object(document, type, at: path)
        case (.list, .array(let elements)):
            for (index, element) in elements.enumerated() {
                guard let document = element.document else { continue }
                object(document, type, at: path + [.index(UInt32(index))])
            }
        case (.dictionary, .document(let values)):
            for field in values {
                guard let document = field.value.document else { continue }
                object(document, type, at: path + [.key(ByteText(field.key))])
            }
        default: break
        }
    }

    static func name(of property: SyncProperty, in type: SyncClass) -> String {
        type.isEmbedded ? "\(type.name.text)\t\(property.name.text)" : property.name.text
    }
}

extension ObjectMapping {
    /// The names of all properties of the class and of those that are embedded in it, whose names come first then.
    public var propertyNames: Set<String> {
        var names: Set<String> = []
        for type in schema.parts(of: self.type) {
            names.formUnion(type.properties.map { AdditionWriter.name(of: $0, in: type) })
        }
        return names
    }

    /// Says what a document has in properties that a device did not know of.
    ///
    /// - Parameters:
    ///   - document: The document, without fields that the device may not see.
    ///   - known: What the device knew, as ``propertyNames`` was.
    /// - Returns: Nothing when the document's `_id` is not a key of the class.
    public func instructions(adding document: BSONDocument, to known: Set<String>) -> [Instruction] {
        guard let object = address(of: document) else { return [] }
        var writer = AdditionWriter(
            state: StateWriter(schema: schema, object: object, isFresh: false),
            known: known
        )
        writer.object(document, type, at: [])
        return writer.state.instructions
    }
}

extension SyncSchema {
    /// A class, and those that are embedded in it, however deep.
    public func parts(of type: SyncClass) -> [SyncClass] {
        var found = [type]
        var place = 0
        while place < found.count {
            for property in found[place].properties {
                guard case .embedded(let name) = property.type, let inner = self[name],
                    !found.contains(where: { $0.name == inner.name })
                else { continue }
                found.append(inner)
            }
            place += 1
        }
        return found
    }
}
