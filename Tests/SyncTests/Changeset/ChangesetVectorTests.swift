import BSON
import Sync
import Testing

/// The bytes are those of `realm-sync-protocol.md` §6, taken from a real client.
@Suite("Changeset bytes")
struct ChangesetVectorTests {
    static let table = ByteText("T")
    static let field = ByteText("f")

    /// An update of field `f` of object 1 of class `T`, up to the value.
    static let head: [UInt8] = [
        0x3F, 0x00, 0x01, 0x54, 0x3F, 0x01, 0x01, 0x66, 0x04, 0x00, 0x01, 0x01, 0x01, 0x00,
    ]

    static func update(_ payload: Payload) -> Instruction {
        .update(
            ValueAddress(object: ObjectAddress(table: table, key: .int(1)), field: field),
            payload,
            .value(isDefault: false)
        )
    }

    static let payloads: [(Payload, [UInt8])] = [
        (.int(63), [0x01, 0x3F]),
        (.int(64), [0x01, 0xC0, 0x00]),
        (.int(-1), [0x01, 0x40]),
        (.int(-64), [0x01, 0x7F]),
        (.int(.max), [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00]),
        (.int(.min), [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x40]),
        (.null, [0x00]),
        (.bool(true), [0x02, 0x01]),
        (.string(ByteText("é")), [0x03, 0x02, 0xC3, 0xA9]),
        (.binary([0, 255]), [0x04, 0x02, 0x00, 0xFF]),
        (.timestamp(SyncTimestamp(milliseconds: -1500)), [0x05, 0x40, 0xFF, 0xC9, 0xB5, 0xEE, 0x41]),
        (.float((1.5 as Float).bitPattern), [0x06, 0x00, 0x00, 0xC0, 0x3F]),
        (.double((-2.0).bitPattern), [0x07, 0, 0, 0, 0, 0, 0, 0, 0xC0]),
        (.decimal(decimal("123.45")), [0x08, 0xB9, 0xE0, 0x00, 0x41, 0x00]),
        (.decimal(decimal("NaN")), [0x08, 0x00, 0xE0, 0xCB, 0x00, 0x00]),
        (.decimal(decimal("-Infinity")), [0x08, 0x00, 0xE0, 0xC7, 0x00, 0x01]),
        (.decimal(decimal("-1E+6000")), [0x08, 0x01, 0xF0, 0x2E, 0x01]),
        (.objectValue, [0x41]),
        (.dictionary, [0x42]),
        (.erased, [0x43]),
        (.list, [0x44]),
        (.set, [0x45]),
        (.link(ObjectAddress(table: table, key: .int(2))), [0x09, 0x00, 0x01, 0x02]),
    ]

    static func decimal(_ text: String) -> Decimal128 { Decimal128(text) ?? Decimal128(high: 0, low: 0) }

    @Test("writes and reads each type of value", arguments: payloads)
    func payload(payload: Payload, bytes: [UInt8]) throws {
        let expected = Self.head + bytes + [0x00]
        let changeset = Changeset([Self.update(payload)])
        #expect(ChangesetWriter.write(changeset) == expected)
        #expect(try ChangesetReader.read(expected[...]) == changeset)
    }

    @Test("keeps a decimal of 34 digits")
    func longDecimal() throws {
        let payload = Payload.decimal(Self.decimal(String(repeating: "9", count: 34)))
        let bytes = ChangesetWriter.write(Changeset([Self.update(payload)]))
        #expect(try ChangesetReader.read(bytes[...]).instructions == [Self.update(payload)])
    }

    @Test("reads every instruction that it writes")
    func instructions() throws {
        let object = ObjectAddress(table: Self.table, key: .string(ByteText("key")))
        let whole = ValueAddress(object: object, field: Self.field)
        let element = ValueAddress(
            object: object,
            field: Self.field,
            path: [.key(ByteText("a")), .index(3)]
        )
        let key = Instruction.KeyColumn(field: ByteText("_id"), type: .objectID, isNullable: false)
        let changeset = Changeset([
            .addTable(Self.table, .topLevel(key)),
            .addTable(ByteText("E"), .embedded),
            .addTable(ByteText("A"), .asymmetric(key)),
            .addColumn(
                Instruction.Column(
                    table: Self.table,
                    field: Self.field,
                    type: .link,
                    isNullable: true,
                    collection: .dictionary,
                    target: ByteText("E")
                )
            ),
            .addColumn(
                Instruction.Column(table: Self.table, field: ByteText("m"), type: .null, isNullable: true)
            ),
            .eraseColumn(table: Self.table, field: Self.field),
            .eraseTable(ByteText("A")),
            .createObject(object),
            .eraseObject(ObjectAddress(table: Self.table, key: .null)),
            .update(whole, .string(ByteText("x")), .value(isDefault: true)),
            .update(element, .int(5), .element(priorSize: 9)),
            .addInteger(whole, -3),
            .arrayInsert(element, .objectValue, priorSize: 3),
            .arrayMove(element, to: 0, priorSize: 4),
            .arrayErase(element, priorSize: 4),
            .clear(whole, .list),
            .setInsert(whole, .uuid(UUIDBytes(0..<16)!)),
            .setErase(whole, .objectID(ObjectID(hex: "641382026852d9220b2e2bbf")!)),
        ])
        #expect(try ChangesetReader.read(ChangesetWriter.write(changeset)[...]) == changeset)
    }

    static let broken: [(String, [UInt8])] = [
        ("an unknown instruction", [0x0E]),
        ("the end inside an instruction", [0x3F, 0x00]),
        ("a name that is not defined", [0x01, 0x00]),
        ("interned strings out of order", [0x3F, 0x01, 0x01, 0x54]),
        ("a text that is not UTF-8", [0x3F, 0x00, 0x01, 0xFF]),
        ("a length past the end", [0x3F, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
        ("an integer without end", [UInt8](repeating: 0x80, count: 40)),
        ("a boolean of 2", head + [0x02, 0x02, 0x00]),
        ("a key of a type that none has", [0x3F, 0x00, 0x01, 0x54, 0x02, 0x00, 0x02, 0x01]),
        ("a global key", [0x3F, 0x00, 0x01, 0x54, 0x02, 0x00, 0x40, 0x01, 0x01]),
        ("nanoseconds of the other sign", head + [0x05, 0x01, 0x41, 0x00]),
        ("an insert whose path does not end in an index", [0x3F, 0, 1, 0x54, 0x08, 0, 1, 1, 0, 0, 0, 0]),
    ]

    @Test("refuses what is no changeset", arguments: broken)
    func refuses(name: String, bytes: [UInt8]) {
        let fault = #expect(throws: SyncFault.self, "\(name)") { try ChangesetReader.read(bytes[...]) }
        #expect(fault?.code == .badChangeset)
    }
}
