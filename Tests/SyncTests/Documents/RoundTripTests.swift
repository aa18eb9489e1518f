import BSON
import Sync
import Testing

@Suite("Documents and their instructions")
struct RoundTripTests {
    static let id = ObjectID(seconds: 7, unique: 7)

    /// As a device would get them: through bytes.
    func travel(_ instructions: [Instruction]) throws -> [Instruction] {
        try ChangesetReader.read(ChangesetWriter.write(Changeset(instructions))[...]).instructions
    }

    @Test("a document's instructions make the same document", arguments: 0..<60 as Range<UInt64>)
    func creation(seed: UInt64) throws {
        var everything = Everything(seed: seed)
        let document = everything.document(id: Self.id)
        #expect(Everything.mapping.unrepresentable(document) == nil)
        let instructions = try travel(Everything.mapping.instructions(creating: document, isFresh: true))
        let made = try Everything.mapping.applying(instructions, to: nil)
        #expect(differences(made, document) == [])
    }

    @Test("the whole state over another object replaces it", arguments: 0..<40 as Range<UInt64>)
    func replacement(seed: UInt64) throws {
        var everything = Everything(seed: seed)
        let old = everything.document(id: Self.id)
        let document = everything.changed(old)
        let instructions = try travel(Everything.mapping.instructions(creating: document))
        let made = try Everything.mapping.applying(instructions, to: old)
        #expect(differences(made, document) == [])
        #expect(try Everything.mapping.applying(instructions, to: made) == made)
    }

    @Test("the difference leads from one document to the other", arguments: 0..<150 as Range<UInt64>)
    func difference(seed: UInt64) throws {
        var everything = Everything(seed: seed)
        let before = everything.document(id: Self.id)
        let after = everything.changed(before)
        let instructions = try travel(Everything.mapping.instructions(changing: before, to: after))
        let made = try Everything.mapping.applying(instructions, to: before)
        #expect(differences(made, after) == [])
        #expect(Everything.mapping.instructions(changing: after, to: after).isEmpty)
    }

    @Test(
        "what an object has in new properties is told without the others",
        arguments: 0..<40 as Range<UInt64>
    )
    func addition(seed: UInt64) throws {
        var everything = Everything(seed: seed)
        let document = everything.document(id: Self.id)
        let known = Everything.mapping.propertyNames.filter {
            $0.contains("\t") || ($0.utf8.count + Int(seed)) % 3 > 0
        }
        let old = BSONDocument(document.fields.filter { $0.key == "_id" || known.contains($0.key) })
        let instructions = try travel(Everything.mapping.instructions(adding: document, to: known))
        #expect(instructions.allSatisfy { !known.contains($0.address?.field.text ?? "") })
        let made = try Everything.mapping.applying(instructions, to: old)
        #expect(differences(made, document) == [])
        #expect(
            Everything.mapping.instructions(adding: document, to: Everything.mapping.propertyNames).isEmpty
        )
    }

    @Test("null takes a field out where the schema has no null for it")
    func nulls() throws {
        let object = try #require(Everything.mapping.address(id: .objectID(Self.id)))
        let place = ValueAddress(object: object, field: ByteText("intOptional"), path: [])
        let null = Instruction.update(place, .null, .value(isDefault: false))
        let before: BSONDocument = ["_id": .objectID(Self.id), "intOptional": 4, "z": 9]
        #expect(try Everything.mapping.applying([null], to: before) == ["_id": .objectID(Self.id), "z": 9])
        #expect(try Everything.mapping.applying([null], to: ["_id": .objectID(Self.id)])?.count == 1)
    }

    @Test("fields that the class does not know stay, and written ones keep their order")
    func unknownFields() throws {
        let before: BSONDocument = ["extra": ["a": 1], "_id": .objectID(Self.id), "string": "old", "z": 9]
        var after = before
        after["string"] = "new"
        after["intOptional"] = 4
        let instructions = Everything.mapping.instructions(changing: before, to: after)
        #expect(instructions.count == 2)
        let made = try Everything.mapping.applying(instructions, to: before)
        #expect(made == after)
    }

    @Test("a new object has zero values where nothing was said")
    func zeroValues() throws {
        let object = try #require(Everything.mapping.address(id: .objectID(Self.id)))
        let made = try Everything.mapping.applying([.createObject(object)], to: nil)
        let zero: BSONDocument = [
            "_id": .objectID(Self.id), "int": 0, "long": .int64(0), "bool": false, "string": "",
            "binary": .binary(BSONBinary(subtype: 0, bytes: [])), "date": .date(0), "double": 0.0,
            "decimal": .decimal128(try #require(Decimal128("0"))),
            "oid": .objectID(ObjectID(seconds: 0, unique: 0)),
            "uuid": .binary(BSONBinary(subtype: 4, bytes: Array(repeating: 0, count: 16))),
        ]
        #expect(made == zero)
        #expect(try Everything.mapping.applying([.createObject(object)], to: made) == made)
        #expect(try Everything.mapping.applying([.eraseObject(object)], to: made) == nil)
        #expect(try Everything.mapping.applying([.eraseObject(object)], to: nil) == nil)
    }

    @Test("one changed element of a long list is one instruction")
    func lists() throws {
        var before: BSONDocument = ["_id": .objectID(Self.id)]
        before["intList"] = .array((0..<100).map { .int32($0) })
        func count(_ change: (inout [BSONValue]) -> Void) -> Int {
            var after = before
            var elements = before["intList"]?.array ?? []
            change(&elements)
            after["intList"] = .array(elements)
            return Everything.mapping.instructions(changing: before, to: after).count
        }
        #expect(count { $0[50] = 1000 } == 1)
        #expect(count { $0.remove(at: 50) } == 1)
        #expect(count { $0.insert(1000, at: 50) } == 1)
        #expect(count { $0.append(1000) } == 1)
        #expect(count { $0.removeAll() } == 100)
    }
}
