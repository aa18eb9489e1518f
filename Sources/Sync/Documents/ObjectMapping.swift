public import BSON

/// The documents of a collection and the objects of its class: each from the other.
///
/// Instructions are about one object at a time, and never touch a field that the class does not know.
public struct ObjectMapping: Sendable {
    /// All classes.
    let schema: SyncSchema
    /// The class of the objects.
    public let type: SyncClass

    /// The object that a document is; nil when its `_id` is not a key of the class.
    public func address(of document: BSONDocument) -> ObjectAddress? {
        document["_id"].flatMap(address(id:))
    }

    /// The object of an `_id`; nil when it is not a key of the class.
    public func address(id: BSONValue) -> ObjectAddress? {
        guard let key = ObjectKey(id), let column = type.keyColumn,
            key.kind == column.type || key == .null && column.isNullable
        else { return nil }
        return ObjectAddress(table: type.name, key: key)
    }

    /// The `_id` of an object; nil when the key is not one of the class.
    public func id(of key: ObjectKey) -> BSONValue? { schema.key(key, of: type) }

    /// Makes a device forget an object.
    public func erase(_ key: ObjectKey) -> Instruction {
        .eraseObject(ObjectAddress(table: type.name, key: key))
    }

    /// Makes an object and says its whole state.
    ///
    /// Fields of another type than the class has are left out, as are those that the document lacks; see
    /// ``unrepresentable(_:)``.
    ///
    /// - Parameters:
    ///   - document: The document, without fields that the device may not see.
    ///   - isFresh: Whether the object cannot exist on the device, as after its erasure: then what is null or empty
    ///     needs no words.
    /// - Returns: Nothing when the document's `_id` is not a key of the class.
    public func instructions(creating document: BSONDocument, isFresh: Bool = false) -> [Instruction] {
        guard let object = address(of: document) else { return [] }
        var writer = StateWriter(schema: schema, object: object, isFresh: isFresh)
        writer.instructions.append(.createObject(object))
        for property in type.properties {
            writer.field(property, document[property.name.text], at: [])
        }
        return writer.instructions
    }

    /// Turns an object's state into another with few instructions.
    ///
    /// - Parameters:
    ///   - before: What the device has.
    ///   - after: What it shall have, with the same `_id`; both without fields that the device may not see.
    /// - Returns: Nothing when the objects are equal, or the `_id` is not a key of the class.
    public func instructions(changing before: BSONDocument, to after: BSONDocument) -> [Instruction] {
        guard let object = address(of: after) else { return [] }
        var writer = DifferenceWriter(
            state: StateWriter(schema: schema, object: object, isFresh: true)
        )
        for property in type.properties {
            writer.field(property, before[property.name.text], after[property.name.text], at: [])
        }
        return writer.state.instructions
    }

    /// Why no device can have the document; nil when it can.
    ///
    /// Source: `sync-semantics.md` §12.
    public func unrepresentable(_ document: BSONDocument) -> String? {
        guard let id = document["_id"] else { return "the document has no \"_id\"" }
        guard address(id: id) != nil else {
            return "\"_id\" is not of type \(type.keyType?.description ?? "objectId")"
        }
        return Representability(schema: schema).reason(document, type, at: "")
    }

    /// What a document becomes by instructions.
    ///
    /// - Parameters:
    ///   - instructions: About one object of the class, in order. What changes an object that does not exist has no
    ///     effect: erasing wins.
    ///   - before: The document; nil when there is none.
    /// - Returns: The document afterwards; nil when there is none.
    /// - Throws: ``SyncFault``: `badChangeset` for values and places that do not fit, `invalidSchemaChange` for
    ///   properties that the class lacks.
    public func applying(
        _ instructions: some Sequence<Instruction>,
        to before: BSONDocument?
    ) throws(SyncFault) -> BSONDocument? {
        var applier = InstructionApplier(schema: schema, type: type, document: before)
        for instruction in instructions { try applier.apply(instruction) }
        return applier.result
    }
}

extension SyncSchema {
    /// The documents and objects of a top-level or asymmetric class; nil for others.
    public func mapping(of name: ByteText) -> ObjectMapping? {
        guard let type = self[name], !type.isEmbedded else { return nil }
        return ObjectMapping(schema: self, type: type)
    }
}
