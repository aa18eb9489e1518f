import BSON

/// Turns the bytes of a changeset into instructions.
///
/// Every text must be UTF-8, every interned string defined before its use, and every type one that may stand where
/// it stands; anything else is `badChangeset` with the position. Source: `realm-sync-protocol.md` §6.
public struct ChangesetReader {
    /// How long the way into a field's value may be: collections in mixed values nest at most 100 deep in the client.
    static let pathLimit = 200

    private var cursor: ByteCursor
    private var interned: [ByteText] = []

    /// Reads a whole changeset.
    ///
    /// - Parameter bytes: As they came, after decompression; none at all is an empty changeset.
    /// - Returns: The instructions, in order.
    /// - Throws: ``SyncFault`` with `badChangeset`.
    public static func read(_ bytes: ArraySlice<UInt8>) throws(SyncFault) -> Changeset {
        var reader = ChangesetReader(cursor: ByteCursor(bytes))
        var changeset = Changeset()
        while let instruction = try reader.next() { changeset.instructions.append(instruction) }
        return changeset
    }

    private init(cursor: ByteCursor) {
        self.cursor = cursor
    }

    private mutating func next() throws(SyncFault) -> Instruction? {
        while !cursor.isAtEnd {
            let type = try cursor.unsigned(bits: 8)
            guard type == InstructionNumber.intern else { return try instruction(type) }
            try intern()
        }
        return nil
    }

    private mutating func intern() throws(SyncFault) {
        let index = try cursor.small()
        guard index == interned.count else { throw cursor.fault("interned strings are out of order") }
        interned.append(try text())
    }

    private mutating func instruction(_ type: UInt64) throws(SyncFault) -> Instruction {
        switch type {
        case InstructionNumber.addTable: return .addTable(try name(), try tableKind())
        case InstructionNumber.eraseTable: return .eraseTable(try name())
        case InstructionNumber.createObject: return .createObject(try object())
        case InstructionNumber.eraseObject: return .eraseObject(try object())
        case InstructionNumber.update: return try update()
        case InstructionNumber.addInteger: return .addInteger(try value(), try cursor.signed())
        case InstructionNumber.addColumn: return .addColumn(try column())
        case InstructionNumber.eraseColumn: return .eraseColumn(table: try name(), field: try name())
        case InstructionNumber.arrayInsert:
            return .arrayInsert(try element(), try payload(), priorSize: try cursor.small())
        case InstructionNumber.arrayMove:
            return .arrayMove(try element(), to: try cursor.small(), priorSize: try cursor.small())
        case InstructionNumber.arrayErase: return .arrayErase(try element(), priorSize: try cursor.small())
        case InstructionNumber.clear: return .clear(try value(), try collectionKind())
        case InstructionNumber.setInsert: return .setInsert(try value(), try payload())
        case InstructionNumber.setErase: return .setErase(try value(), try payload())
        default: throw cursor.fault("there is no instruction \(type)")
        }
    }

    private mutating func update() throws(SyncFault) -> Instruction {
        let address = try value()
        let payload = try payload()
        if case .index? = address.path.last {
            return .update(address, payload, .element(priorSize: try cursor.small()))
        }
        return .update(address, payload, .value(isDefault: try cursor.bool()))
    }

    private mutating func tableKind() throws(SyncFault) -> Instruction.TableKind {
        switch try cursor.unsigned() {
        case 0: return .topLevel(try keyColumn())
        case 1: return .embedded
        case 2: return .asymmetric(try keyColumn())
        default: throw cursor.fault("there is no such kind of class")
        }
    }

    private mutating func keyColumn() throws(SyncFault) -> Instruction.KeyColumn {
        Instruction.KeyColumn(field: try name(), type: try kind(), isNullable: try cursor.bool())
    }

    private mutating func column() throws(SyncFault) -> Instruction.Column {
        var column = Instruction.Column(
            table: try name(),
            field: try name(),
            type: try kind(),
            isNullable: try cursor.bool(),
            collection: try collectionKind()
        )
        if column.type == .link { column.target = try name() }
        if column.collection == .dictionary, try kind() != .string {
            throw cursor.fault("keys of dictionaries are strings")
        }
        return column
    }

    private mutating func collectionKind() throws(SyncFault) -> CollectionKind {
        guard let kind = CollectionKind(rawValue: UInt8(try cursor.unsigned(bits: 8))) else {
            throw cursor.fault("there is no such kind of collection")
        }
        return kind
    }

    private mutating func kind() throws(SyncFault) -> Payload.Kind {
        guard let kind = Payload.Kind(rawValue: try cursor.signed()) else {
            throw cursor.fault("there is no such type of value")
        }
        return kind
    }

    private mutating func object() throws(SyncFault) -> ObjectAddress {
        ObjectAddress(table: try name(), key: try key())
    }

    private mutating func value() throws(SyncFault) -> ValueAddress {
        ValueAddress(object: try object(), field: try name(), path: try path())
    }

    private mutating func element() throws(SyncFault) -> ValueAddress {
        let address = try value()
        guard case .index? = address.path.last else { throw cursor.fault("a path does not end in an index") }
        return address
    }

    private mutating func path() throws(SyncFault) -> [PathElement] {
        let count = try cursor.small()
        guard count <= Self.pathLimit else {
            throw cursor.fault("a path has more than \(Self.pathLimit) steps")
        }
        var path: [PathElement] = []
        for _ in 0..<count {
            let index = try cursor.signed()
            if let index = UInt32(exactly: index) {
                path.append(.index(index))
            } else if index == -1 {
                path.append(.key(try name()))
            } else {
                throw cursor.fault("a path has an index that is none")
            }
        }
        return path
    }

    private mutating func key() throws(SyncFault) -> ObjectKey {
        switch try kind() {
        case .null: return .null
        case .int: return .int(try cursor.signed())
        case .string: return .string(try name())
        case .objectID: return .objectID(try objectID())
        case .uuid: return .uuid(try uuid())
        default: throw cursor.fault("a primary key is of a type that none may have")
        }
    }

    private mutating func payload() throws(SyncFault) -> Payload {
        switch try kind() {
        case .null: return .null
        case .int: return .int(try cursor.signed())
        case .bool: return .bool(try cursor.bool())
        case .string: return .string(try text())
        case .binary: return .binary(Array(try cursor.counted()))
        case .timestamp: return .timestamp(try timestamp())
        case .float: return .float(try cursor.littleEndian(UInt32.self))
        case .double: return .double(try cursor.littleEndian(UInt64.self))
        case .decimal: return .decimal(try decimal())
        case .link: return .link(ObjectAddress(table: try name(), key: try key()))
        case .objectID: return .objectID(try objectID())
        case .uuid: return .uuid(try uuid())
        case .objectValue: return .objectValue
        case .dictionary: return .dictionary
        case .erased: return .erased
        case .list: return .list
        case .set: return .set
        }
    }

    private mutating func timestamp() throws(SyncFault) -> SyncTimestamp {
        guard
            let timestamp = SyncTimestamp(
                seconds: try cursor.signed(),
                nanoseconds: try cursor.signed()
            )
        else { throw cursor.fault("a timestamp's nanoseconds do not fit its seconds") }
        return timestamp
    }

    private mutating func decimal() throws(SyncFault) -> Decimal128 {
        let coefficient = try cursor.coefficient()
        let exponent = try cursor.signed()
        let sign = try cursor.bool()
        guard
            let exponent = Int(exactly: exponent),
            let decimal = Decimal128(
                signField: sign,
                exponentField: exponent,
                coefficientField: coefficient
            )
        else { throw cursor.fault("a decimal's exponent is out of range") }
        return decimal
    }

    private mutating func objectID() throws(SyncFault) -> ObjectID {
        guard let id = ObjectID(bytes: try cursor.raw(12)) else { throw cursor.fault("an ObjectId is cut") }
        return id
    }

    private mutating func uuid() throws(SyncFault) -> UUIDBytes {
        guard let id = UUIDBytes(try cursor.raw(16)) else { throw cursor.fault("a UUID is cut") }
        return id
    }

    private mutating func name() throws(SyncFault) -> ByteText {
        let index = try cursor.small()
        guard index < interned.count else { throw cursor.fault("an interned string is not defined") }
        return interned[Int(index)]
    }

    private mutating func text() throws(SyncFault) -> ByteText {
        guard let text = String(validating: try cursor.counted(), as: UTF8.self) else {
            throw cursor.fault("a text is not UTF-8")
        }
        return ByteText(text)
    }
}

/// The first byte of each instruction.
enum InstructionNumber {
    static let addTable: UInt64 = 0
    static let eraseTable: UInt64 = 1
    static let createObject: UInt64 = 2
    static let eraseObject: UInt64 = 3
    static let update: UInt64 = 4
    static let addInteger: UInt64 = 5
    static let addColumn: UInt64 = 6
    static let eraseColumn: UInt64 = 7
    static let arrayInsert: UInt64 = 8
    static let arrayMove: UInt64 = 9
    static let arrayErase: UInt64 = 10
    static let clear: UInt64 = 11
    static let setInsert: UInt64 = 12
    static let setErase: UInt64 = 13
    static let intern: UInt64 = 0x3F
}
