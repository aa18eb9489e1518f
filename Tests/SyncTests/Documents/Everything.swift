import BSON
import MQL
import Schemas
import Sync
import TestSupport

/// A schema with every kind of property, and random documents of it.
struct Everything {
    var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    static let namespace = Namespace(dataSource: "mongodb-atlas", database: "shop", collection: "things")

    static let scalars: [(name: String, type: String)] = [
        ("int", "int"), ("long", "long"), ("bool", "bool"), ("string", "string"), ("binary", "binData"),
        ("date", "date"), ("double", "double"), ("decimal", "decimal"), ("oid", "objectId"),
        ("uuid", "uuid"),
    ]

    static let schema: SyncSchema = {
        var properties: [String] = [#""_id": {"bsonType": "objectId"}"#]
        var embedded: [String] = []
        for (name, type) in scalars {
            properties += [
                #""\#(name)": {"bsonType": "\#(type)"}"#,
                #""\#(name)Optional": {"bsonType": "\#(type)"}"#,
                #""\#(name)List": {"bsonType": "array", "items": {"bsonType": "\#(type)"}}"#,
                #""\#(name)NullList": {"bsonType": "array", "items": {"bsonType": ["\#(type)", "null"]}}"#,
                #""\#(name)Set": {"bsonType": "array", "uniqueItems": true, "items": {"bsonType": "\#(type)"}}"#,
                #""\#(name)Map": {"bsonType": "object", "additionalProperties": {"bsonType": "\#(type)"}}"#,
            ]
            embedded.append(#""\#(name)": {"bsonType": "\#(type)"}"#)
        }
        let inner = """
            {"title": "Inner", "bsonType": "object", "required": ["string"], "properties": {
              \(embedded.joined(separator: ",\n")),
              "tags": {"bsonType": "array", "items": {"bsonType": "string"}},
              "any": {"bsonType": "mixed"},
              "deep": {"bsonType": "object", "properties": {"x": {"bsonType": "long"}}}}}
            """
        properties += [
            #""inner": \#(inner)"#,
            #""innerList": {"bsonType": "array", "items": \#(inner)}"#,
            #""innerMap": {"bsonType": "object", "additionalProperties": \#(inner)}"#,
            #""any": {"bsonType": "mixed"}"#,
            #""anyList": {"bsonType": "array", "items": {"bsonType": "mixed"}}"#,
            #""anySet": {"bsonType": "array", "uniqueItems": true, "items": {"bsonType": "mixed"}}"#,
            #""anyMap": {"bsonType": "object", "additionalProperties": {"bsonType": "mixed"}}"#,
            #""friend": {"bsonType": "objectId"}"#,
            #""friends": {"bsonType": "array", "items": {"bsonType": "objectId"}}"#,
            #""friendSet": {"bsonType": "array", "uniqueItems": true, "items": {"bsonType": "objectId"}}"#,
            #""friendMap": {"bsonType": "object", "additionalProperties": {"bsonType": "objectId"}}"#,
        ]
        let required = (["_id"] + scalars.map(\.name)).map { "\"\($0)\"" }.joined(separator: ",")
        let text = """
            {"title": "Thing", "bsonType": "object", "required": [\(required)],
             "properties": {\(properties.joined(separator: ",\n"))}}
            """
        let links = ["friend", "friends", "friendSet", "friendMap"].map {
            relationship($0, to: "things")
        }
        let made = SyncSchema.make([source(namespace, text, relationships: links)])
        precondition(made.faults.isEmpty, made.faults.map(\.description).joined(separator: "\n"))
        return made.schema
    }()

    static var mapping: ObjectMapping {
        guard let mapping = schema.mapping(of: ByteText("Thing")) else { fatalError("no class of the test") }
        return mapping
    }

    // MARK: Values

    mutating func upTo(_ limit: Int) -> Int { Int.random(in: 0...limit, using: &random) }

    mutating func text() -> String {
        String((0..<upTo(4)).map { _ in Array("ab é\u{301}$.😀").randomElement(using: &random) ?? "a" })
    }

    mutating func oid() -> ObjectID { ObjectID(seconds: UInt32(upTo(3)), unique: UInt64(upTo(3))) }

    mutating func scalar(_ type: String) -> BSONValue {
        switch type {
        case "int": .int32([0, 1, -1, .max, .min][upTo(4)])
        case "long": .int64([0, 1, -1, .max, .min][upTo(4)])
        case "bool": .bool(upTo(1) == 0)
        case "string": .string(text())
        case "binData":
            .binary(BSONBinary(subtype: 0, bytes: Array(repeating: UInt8(upTo(255)), count: upTo(3))))
        case "date": .date([0, -1, -1500, 1_700_000_000_123][upTo(3)])
        case "double": .double([0, -0.0, 1.5, .nan, .infinity][upTo(4)])
        case "decimal":
            Decimal128(["0", "1.50", "-3E+10", "NaN", "Infinity"][upTo(4)]).map { .decimal128($0) } ?? .null
        case "objectId": .objectID(oid())
        default: .binary(BSONBinary(subtype: 4, bytes: Array(repeating: UInt8(upTo(255)), count: 16)))
        }
    }

    mutating func link() -> BSONValue { ["$ref": "things", "$id": .objectID(oid())] }

    mutating func flatMixed() -> BSONValue {
        let types = Self.scalars.map(\.type).filter { $0 != "int" }
        return upTo(9) == 0 ? link() : scalar(types[upTo(types.count - 1)])
    }

    mutating func mixed(depth: Int = 0) -> BSONValue {
        if depth < 3, upTo(2) == 0 {
            if upTo(1) == 0 { return .array((0..<upTo(4)).map { _ in mixed(depth: depth + 1) }) }
            var document: BSONDocument = [:]
            for _ in 0..<upTo(4) { document["k" + String(upTo(4))] = mixed(depth: depth + 1) }
            return .document(document)
        }
        return upTo(9) == 0 ? .null : flatMixed()
    }

    mutating func list(_ limit: Int = 5, _ element: (inout Everything) -> BSONValue) -> BSONValue {
        .array((0..<upTo(limit)).map { _ in element(&self) })
    }

    mutating func unique(_ element: (inout Everything) -> BSONValue) -> BSONValue {
        var seen: Set<BSONKey> = []
        return .array((0..<upTo(4)).map { _ in element(&self) }.filter { seen.insert(BSONKey($0)).inserted })
    }

    mutating func map(_ element: (inout Everything) -> BSONValue) -> BSONValue {
        var document: BSONDocument = [:]
        for _ in 0..<upTo(4) { document["k" + String(upTo(5))] = element(&self) }
        return .document(document)
    }

    mutating func inner() -> BSONValue {
        var document: BSONDocument = [:]
        for (name, type) in Self.scalars where name == "string" || upTo(1) == 0 {
            document[name] = scalar(type)
        }
        document["tags"] = list { $0.scalar("string") }
        if upTo(1) == 0 { document["any"] = mixed() }
        if upTo(1) == 0 { document["deep"] = ["x": scalar("long")] }
        return .document(document)
    }

    /// Every collection is there, so that a document equals what its instructions make.
    mutating func document(id: ObjectID) -> BSONDocument {
        var document: BSONDocument = ["_id": .objectID(id)]
        for (name, type) in Self.scalars {
            document[name] = scalar(type)
            document[name + "Optional"] = upTo(1) == 0 ? .null : scalar(type)
            document[name + "List"] = list { $0.scalar(type) }
            document[name + "NullList"] = list { $0.upTo(2) == 0 ? .null : $0.scalar(type) }
            document[name + "Set"] = unique { $0.scalar(type) }
            document[name + "Map"] = map { $0.scalar(type) }
        }
        document["inner"] = upTo(2) == 0 ? .null : inner()
        document["innerList"] = list { $0.inner() }
        document["innerMap"] = map { $0.inner() }
        document["any"] = mixed()
        document["anyList"] = list { $0.mixed() }
        document["anySet"] = unique { $0.flatMixed() }
        document["anyMap"] = map { $0.mixed() }
        document["friend"] = upTo(2) == 0 ? .null : .objectID(oid())
        document["friends"] = list { .objectID($0.oid()) }
        document["friendSet"] = unique { .objectID($0.oid()) }
        document["friendMap"] = map { .objectID($0.oid()) }
        return document
    }

    /// The document with some fields from another, as an update would leave it.
    mutating func changed(_ document: BSONDocument) -> BSONDocument {
        let other = self.document(id: ObjectID(seconds: 0, unique: 0))
        var result = document
        for (index, field) in other.fields.enumerated() where field.key != "_id" && upTo(3) == 0 {
            result.fields[index].value = mingle(result.fields[index].value, field.value)
        }
        return result
    }

    /// One or the other, or lists and documents made of parts of both.
    private mutating func mingle(_ old: BSONValue, _ new: BSONValue) -> BSONValue {
        if upTo(2) == 0 { return new }
        switch (old, new) {
        case (.array(let old), .array(let new)) where old.isEmpty == new.isEmpty && upTo(1) == 0:
            return .array(Array(old.prefix(upTo(old.count)) + old.suffix(upTo(1))))
        case (.document(let old), .document(let new)) where old.firstKey != "$ref" && new.firstKey != "$ref":
            var result = old
            for field in new where upTo(1) == 0 {
                result[field.key] = result[field.key].map { mingle($0, field.value) } ?? field.value
            }
            return .document(result)
        default: return new
        }
    }
}

/// An entry of `relationships.json` that leads to a collection of the shop.
func relationship(_ path: String, to collection: String, key: String = "_id", isList: Bool = false)
    -> Relationship
{
    let entry: BSONDocument = [
        path: [
            "ref": .string("#/relationship/mongodb-atlas/shop/\(collection)"), "foreign_key": .string(key),
            "is_list": .bool(isList),
        ]
    ]
    return RelationshipParser.parse(entry).relationships[0]
}

/// A collection with its schema's text.
func source(
    _ namespace: Namespace,
    _ schema: String,
    relationships: [Relationship] = [],
    isAsymmetric: Bool = false
) -> SyncSchema.Source {
    do {
        return SyncSchema.Source(
            namespace: namespace,
            schema: try SchemaParser.parse(try ExtendedJSON.document(schema)),
            relationships: relationships,
            isAsymmetric: isAsymmetric
        )
    } catch {
        fatalError("the schema of a test: \(error)")
    }
}

/// A document without what devices do not tell apart: the order in sets and of keys, nothing and empty.
func comparable(_ value: BSONValue) -> BSONValue {
    switch value {
    case .document(let document):
        var fields: [BSONDocument.Field] = []
        for field in document {
            var value = comparable(field.value)
            if field.key.hasSuffix("Set"), case .array(let members) = value {
                // Equal numbers are one member, whatever their type.
                let distinct = Set(
                    members.map { $0.doubleValue.map { BSONKey(.double($0 + 0)) } ?? BSONKey($0) }
                )
                value = .array(distinct.map(\.value).sorted { BSONOrdering.compare($0, $1) < 0 })
            }
            let isNothing = value.isNull || value.array?.isEmpty == true || value.document?.isEmpty == true
            if field.key.hasPrefix("k") || !isNothing {
                fields.append(BSONDocument.Field(key: field.key, value: value))
            }
        }
        return .document(BSONDocument(fields.sorted { TextOrder.compare($0.key, $1.key) < 0 }))
    case .array(let elements): return .array(elements.map(comparable))
    default: return value
    }
}

/// What is not the same in two documents, for people; empty when they are the same to devices.
func differences(_ found: BSONDocument?, _ expected: BSONDocument) -> [String] {
    let found = comparable(.document(found ?? [:])).document ?? [:]
    let expected = comparable(.document(expected)).document ?? [:]
    return Set(found.keys + expected.keys).filter { found[$0] != expected[$0] }.sorted().map { key in
        let texts = [found[key], expected[key]].map { $0.map { ExtendedJSON.canonical($0) } ?? "nothing" }
        return "\(key): \(texts[0]) instead of \(texts[1])"
    }
}
