import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Properties that a schema does not require may be null on devices, whatever types it names.
///
/// Source: `rules.md` §14.3.
@Suite("Sync: null in optional properties")
struct SyncNullTests {
    private struct Memo {
        let id = ItemExampleTests.newID()
        let device: SyncDevice

        init() async throws {
            device = try await ItemExampleTests.device()
            _ = try device.subscribe(1, #"{"Memo":"(TRUEPREDICATE)"}"#)
        }

        var object: ObjectAddress {
            ObjectAddress(table: ByteText("Memo"), key: ItemExampleTests.object(id).key)
        }

        func set(_ field: String, _ value: Payload, _ path: PathElement...) -> Instruction {
            .update(
                ValueAddress(object: object, field: ByteText(field), path: path),
                value,
                .value(isDefault: false)
            )
        }

        /// Sends changes, and takes the acknowledgement.
        func write(_ instructions: [Instruction]) throws {
            device.upload(instructions)
            let answer = try device.receive()
            #expect(answer.name == "download")
            #expect(answer.number(6) == device.version)
            #expect(answer.instructions == [])
        }

        var stored: BSONDocument {
            get throws {
                let text = try Shell.psql(
                    device.api.server.database,
                    #"select doc - '_id' from todo."Memo" where doc->'_id'->>'$oid' = '\#(id)'"#
                )
                // PostgreSQL has an order of its own.
                return BSONDocument(try ExtendedJSON.document(text).fields.sorted { $0.key < $1.key })
            }
        }
    }

    @Test("a device may set every optional property to null")
    func optional() async throws {
        let memo = try await Memo()
        let owner = Payload.text(memo.device.user.id)
        try memo.write([
            .createObject(memo.object), memo.set("ownerId", owner), memo.set("text", .text("a")),
            memo.set("size", .int(1)), memo.set("kind", .text("rich")), memo.set("remark", .text("b")),
            memo.set("place", .objectValue), memo.set("place", .text("c"), .key(ByteText("room"))),
        ])
        try memo.write([memo.set("place", .null, .key(ByteText("room")))])
        #expect(try memo.stored["place"] == .document([:]))
        try memo.write(["text", "size", "kind", "remark", "place"].map { memo.set($0, .null) })
        // Absent where the schema has no null; where absent means a default, or null is a type, it is there.
        let owned = BSONValue.string(memo.device.user.id)
        #expect(try memo.stored == ["kind": .null, "ownerId": owned, "remark": .null])

        // Another device of the user sees the same.
        let other = try SyncDevice(memo.device.api, memo.device.user)
        try other.begin()
        let told = try other.subscribe(1, #"{"Memo":"(TRUEPREDICATE)"}"#).flatMap(\.instructions)
        #expect(
            told.filter { $0.object == memo.object } == [
                .eraseObject(memo.object), .createObject(memo.object), memo.set("ownerId", owner),
            ]
        )
        try memo.write([memo.set("text", .text("again")), memo.set("size", .int(2))])
        #expect(try memo.stored["text"] == "again")
    }

    @Test("a new object may be said with nulls alone")
    func created() async throws {
        let memo = try await Memo()
        try memo.write(
            [.createObject(memo.object), memo.set("ownerId", .text(memo.device.user.id))]
                + ["text", "size", "remark", "place"].map { memo.set($0, .null) }
        )
        #expect(try memo.stored == ["ownerId": .string(memo.device.user.id), "remark": .null])
    }

    @Test("what the schema says of values holds all the same")
    func others() async throws {
        let memo = try await Memo()
        let start = [Instruction.createObject(memo.object), memo.set("ownerId", .text(memo.device.user.id))]
        for wrong in [
            memo.set("kind", .text("neither")), memo.set("text", .text(String(repeating: "x", count: 21))),
        ] {
            memo.device.upload(start + [wrong])
            let error = try memo.device.receive()
            #expect(error.fields.prefix(2) == ["json_error", "231"])
            #expect(error.text.contains("document does not match the schema"))
            _ = try memo.device.receive()
        }
        memo.device.upload([.createObject(memo.object), memo.set("ownerId", .null)])
        #expect(try memo.device.receive().fields.prefix(2) == ["json_error", "212"])
    }

    @Test("others than devices are held to the types of the schema")
    func dataAPI() async throws {
        let memo = try await Memo()
        try memo.write([
            .createObject(memo.object), memo.set("ownerId", .text(memo.device.user.id)),
            memo.set("text", .null),
        ])
        for (update, status) in [(#"{"size": {"$numberLong": "3"}}"#, 200), (#"{"text": null}"#, 400)] {
            let answer = try await memo.device.api.act(
                "updateOne",
                "Memo",
                #""filter": {"_id": {"$oid": "\#(memo.id)"}}, "update": {"$set": \#(update)}"#,
                as: memo.device.user.bearer
            )
            #expect(answer.status == status)
        }
    }
}
