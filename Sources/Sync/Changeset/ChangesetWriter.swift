import BSON

/// Turns instructions into the bytes of a changeset.
///
/// A name is interned at its first use. Source: `realm-sync-protocol.md` §6.
public struct ChangesetWriter {
    private var output = ByteBuilder()
    private var interned: [ByteText: UInt32] = [:]

    /// A changeset without instructions.
    public init() {}

    /// What was written so far.
    public var bytes: [UInt8] { output.bytes }

    /// The bytes of a whole changeset.
    public static func write(_ changeset: Changeset) -> [UInt8] {
        var writer = ChangesetWriter()
        for instruction in changeset.instructions { writer.append(instruction) }
        return writer.bytes
    }

    /// The base64 of a primary key, as errors about rejected writes carry it.
    ///
    /// Unlike in changesets, a text stands there itself. Source: `realm-sync-protocol.md` §4.3.
    public static func bytes(of key: ObjectKey) -> [UInt8] {
        var output = ByteBuilder()
        append(key, to: &output) { (text, output) in output.append(counted: text.text.utf8) }
        return output.bytes
    }

    /// Appends one instruction, with the strings that it is the first to name.
    public mutating func append(_ instruction: Instruction) {
        var names: [ByteText] = []
        instruction.collectNames(into: &names)
        for name in names where interned[name] == nil {
            let index = UInt32(interned.count)
            interned[name] = index
            output.append(unsigned: InstructionNumber.intern)
            output.append(unsigned: index)
            output.append(counted: name.text.utf8)
        }
        write(instruction)
    }

    private mutating func write(_ instruction: Instruction) {
        output.append(unsigned: instruction.number)
        switch instruction {
        case .addTable(let table, let kind):
            name(table)
            write(kind)
        case .eraseTable(let table): name(table)
        case .createObject(let address), .eraseObject(let address): object(address)
        case .update(let address, let payload, let form):
            value(address)
            write(payload)
            switch form {
            case .element(let priorSize): output.append(unsigned: priorSize)
            case .value(let isDefault): output.append(isDefault)
            }
        case .addInteger(let address, let number):
            value(address)
            output.append(signed: number)
        case .addColumn(let column): write(column)
        case .eraseColumn(let table, let field):
            name(table)
            name(field)
        case .arrayInsert(let address, let payload, let priorSize):
            value(address)
            write(payload)
            output.append(unsigned: priorSize)
        case .arrayMove(let address, let target, let priorSize):
            value(address)
            output.append(unsigned: target)
            output.append(unsigned: priorSize)
        case .arrayErase(let address, let priorSize):
            value(address)
            output.append(unsigned: priorSize)
        case .clear(let address, let kind):
            value(address)
            output.append(unsigned: kind.rawValue)
        case .setInsert(let address, let payload), .setErase(let address, let payload):
            value(address)
            write(payload)
        }
    }

    private mutating func write(_ kind: Instruction.TableKind) {
        let key: Instruction.KeyColumn
        switch kind {
        case .embedded: return output.append(1)
        case .topLevel(let column): (key, _) = (column, output.append(0))
        case .asymmetric(let column): (key, _) = (column, output.append(2))
        }
        name(key.field)
        output.append(signed: key.type.rawValue)
        output.append(key.isNullable)
    }

    private mutating func write(_ column: Instruction.Column) {
        name(column.table)
        name(column.field)
        output.append(signed: column.type.rawValue)
        output.append(column.isNullable)
        output.append(unsigned: column.collection.rawValue)
        if let target = column.target { name(target) }
        if column.collection == .dictionary { output.append(signed: Payload.Kind.string.rawValue) }
    }

    private mutating func object(_ address: ObjectAddress) {
        name(address.table)
        key(address.key)
    }

    private mutating func key(_ key: ObjectKey) {
        let interned = interned
        Self.append(key, to: &output) { (text, output) in output.append(unsigned: interned[text] ?? 0) }
    }

    private static func append(
        _ key: ObjectKey,
        to output: inout ByteBuilder,
        text write: (ByteText, inout ByteBuilder) -> Void
    ) {
        switch key {
        case .null: output.append(signed: Payload.Kind.null.rawValue)
        case .int(let number):
            output.append(signed: Payload.Kind.int.rawValue)
            output.append(signed: number)
        case .string(let text):
            output.append(signed: Payload.Kind.string.rawValue)
            write(text, &output)
        case .objectID(let id):
            output.append(signed: Payload.Kind.objectID.rawValue)
            output.append(raw: id.bytes)
        case .uuid(let id):
            output.append(signed: Payload.Kind.uuid.rawValue)
            output.append(raw: id.bytes)
        }
    }

    private mutating func value(_ address: ValueAddress) {
        object(address.object)
        name(address.field)
        output.append(unsigned: UInt(address.path.count))
        for element in address.path {
            switch element {
            case .index(let index): output.append(signed: Int64(index))
            case .key(let text):
                output.append(signed: -1)
                name(text)
            }
        }
    }

    private mutating func write(_ payload: Payload) {
        output.append(signed: payload.kind.rawValue)
        switch payload {
        case .null, .objectValue, .dictionary, .erased, .list, .set: break
        case .int(let number): output.append(signed: number)
        case .bool(let value): output.append(value)
        case .string(let text): output.append(counted: text.text.utf8)
        case .binary(let bytes): output.append(counted: bytes)
        case .timestamp(let time):
            output.append(signed: time.seconds)
            output.append(signed: Int64(time.nanoseconds))
        case .float(let bits): output.append(littleEndian: bits)
        case .double(let bits): output.append(littleEndian: bits)
        case .decimal(let decimal):
            output.append(coefficient: decimal.coefficientField)
            output.append(signed: Int64(decimal.exponentField))
            output.append(decimal.signField)
        case .link(let target): object(target)
        case .objectID(let id): output.append(raw: id.bytes)
        case .uuid(let id): output.append(raw: id.bytes)
        }
    }

    private mutating func name(_ text: ByteText) { output.append(unsigned: interned[text] ?? 0) }
}
