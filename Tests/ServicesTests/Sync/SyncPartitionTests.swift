import BSON
import MQL
import Rules
import Schemas
import Sync
import Testing

@testable import AppDefinition
@testable import Services

/// The values that name partitions, and the queries that stand for them.
///
/// Source: `sync-semantics.md` §§16, 17.
@Suite("Sync: values of partitions")
struct SyncPartitionTests {
    private func definition(_ type: PartitionDefinition.KeyType, isRequired: Bool = false)
        -> PartitionDefinition
    {
        PartitionDefinition(
            key: "p",
            type: type,
            isRequired: isRequired,
            read: .constant(true),
            write: .constant(true)
        )
    }

    static let queries: [(PartitionDefinition.KeyType, String, String, BSONValue)] = [
        (.string, #""abc""#, #"p == "abc""#, "abc"),
        (.string, #""say \"hi\"""#, #"p == B64"c2F5ICJoaSI=""#, #"say "hi""#),
        (
            .objectID, #"{"$oid": "6b6b6b6b6b6b6b6b6b6b6b6b"}"#, "p == oid(6b6b6b6b6b6b6b6b6b6b6b6b)",
            .objectID(ObjectID(hex: "6b6b6b6b6b6b6b6b6b6b6b6b") ?? ObjectID(seconds: 0, unique: 0))
        ),
        (.long, #"{"$numberLong": "42"}"#, "p == 42", .int64(42)),
        (.long, #"{"$numberInt": "-7"}"#, "p == -7", .int64(-7)),
        (
            .uuid, #"{"$uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f"}"#,
            "p == uuid(00010203-0405-0607-0809-0a0b0c0d0e0f)",
            .binary(BSONBinary(subtype: 4, bytes: Array(0...15)))
        ),
        (.string, "null", "p == NULL", .null),
    ]

    @Test("are read in each form, and said as a query that means the same", arguments: queries)
    func values(type: PartitionDefinition.KeyType, text: String, query: String, value: BSONValue) throws {
        let partition = try SyncPartition(ByteText(text), of: definition(type))
        #expect(partition.value == value)
        #expect(partition.query == query)
        let bsonType = type == .objectID ? "objectId" : type == .uuid ? "uuid" : type.rawValue
        let schema = try SchemaParser.parse(
            try ExtendedJSON.document(
                """
                {"title": "T", "bsonType": "object", "properties": {"_id": {"bsonType": "objectId"},
                    "p": {"bsonType": "\(bsonType)"}}}
                """
            )
        )
        let place = Namespace(dataSource: "m", database: "d", collection: "t")
        let made = SyncSchema.make([SyncSchema.Source(namespace: place, schema: schema)]).schema
        let reader = SubscriptionReader(schema: made, queryable: QueryableFields(byClass: nil))
        let filter = try reader.query(partition.query, of: ByteText("T")).filter
        let context = EvaluationContext(now: 0)
        #expect(try filter.matches(["_id": 1, "p": value], context))
        #expect(try !filter.matches(["_id": 1, "p": "another"], context))
        #expect(try partition.filter.matches(["_id": 1, "p": value], context))
    }

    @Test(
        "are refused when they are of another type than the key",
        arguments: [
            (PartitionDefinition.KeyType.string, "5"), (.long, #""a""#), (.uuid, #""a""#), (.string, "null"),
        ]
    )
    func refused(type: PartitionDefinition.KeyType, text: String) {
        #expect(throws: SyncFault.self) {
            try SyncPartition(ByteText(text), of: definition(type, isRequired: true))
        }
    }
}
