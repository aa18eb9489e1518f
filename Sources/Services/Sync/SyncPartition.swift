import AppDefinition
import BSON
import MQL
import Rules
import Sync

/// One part of an app's documents: those whose key has a value.
///
/// Source: `sync-semantics.md` §16.
struct SyncPartition: Sendable, Hashable {
    /// The field.
    let key: String
    /// Its value; null stands for documents without the field, too.
    let value: BSONValue

    /// Reads the value by which a device names a partition.
    ///
    /// - Throws: ``SyncFault`` with `illegalRealmPath` for what is no value of the key.
    init(_ text: ByteText, of definition: PartitionDefinition) throws(SyncFault) {
        let refusal = SyncFault(
            .illegalRealmPath,
            "Illegal Realm path (BIND): the partition value is not of type \(definition.type.rawValue)"
        )
        guard let value = try? ExtendedJSON.readValue(Array(text.text.utf8)) else { throw refusal }
        key = definition.key
        switch (definition.type, value) {
        case (_, .null) where !definition.isRequired: self.value = .null
        case (.string, .string), (.objectID, .objectID), (.long, .int64): self.value = value
        case (.long, .int32(let number)): self.value = .int64(Int64(number))
        case (.uuid, .binary(let binary)) where binary.subtype == 4 && binary.bytes.count == 16:
            self.value = value
        default: throw refusal
        }
    }

    /// The value in one form, whatever the device wrote.
    var text: String { ExtendedJSON.canonical(value) }

    /// Which documents it has.
    var filter: Filter { .field(FieldPath(components: [key]), .compare(.equal, value)) }

    /// Which documents it has, as rules say it.
    var condition: RuleExpression {
        .comparison(.image(ImageReference(.root, [key])), .equal(.literal(value)))
    }

    /// Which documents it has, as a device says it in a subscription.
    var query: String { "\(key) == \(literal)" }

    private var literal: String {
        switch value {
        case .string(let text):
            // What would end the text, or escape its end, is told in another form.
            text.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || $0 < 0x20 }
                ? "B64\"\(Self.base64(text))\"" : "\"\(text)\""
        case .objectID(let id): "oid(\(id.hex))"
        case .int64(let number): String(number)
        case .binary(let binary): UUIDBytes(binary.bytes).map { "uuid(\($0.text))" } ?? "NULL"
        default: "NULL"
        }
    }

    private static func base64(_ text: String) -> String {
        var encoded: [UInt8] = []
        Base64.append(Array(text.utf8), to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Gives an object that a device has made the partition that it was made in, unless the device says one.
    ///
    /// What says null or a default of the key is taken out of the instructions, and the value added.
    func complete(_ instructions: inout [Instruction], _ after: inout BSONDocument, _ mapping: ObjectMapping)
    {
        guard !value.isNull, let object = instructions.first?.object,
            instructions.contains(.createObject(object))
        else { return }
        let place = ValueAddress(object: object, field: ByteText(key))
        let isSaid = instructions.contains { instruction in
            if case .update(place, let payload, .value(isDefault: false)) = instruction {
                return payload != .null
            }
            return false
        }
        if isSaid { return }
        instructions.removeAll { $0.address == place }
        after[key] = value
        // Devices whose classes have the field are told of it like of any other.
        guard mapping.type.property(place.field) != nil else { return }
        let whole = mapping.instructions(creating: after, isFresh: true)
        instructions += whole.filter { $0.address == place }
    }
}

/// What a user may do with a partition.
struct SyncPartitionAccess: Sendable, Hashable {
    let mayRead: Bool
    let mayWrite: Bool

    /// The role that the permissions are in each class.
    ///
    /// Roles of collections do not count: whoever may open a partition has all of its documents.
    func role(_ partition: SyncPartition) -> Role {
        Role(
            name: mayWrite ? "read-write" : "read-only",
            documentFilters: Role.DocumentFilters(
                read: partition.condition,
                write: mayWrite ? partition.condition : .constant(false)
            ),
            read: .constant(true),
            write: .constant(mayWrite),
            insert: .constant(mayWrite),
            delete: .constant(mayWrite)
        )
    }
}
