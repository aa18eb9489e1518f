package import BSON
import Sync

// Stored documents as what devices hold.
extension RealmState {
    /// The state that documents of a class make; nil for one that no device could have.
    package init(_ documents: [BSONDocument], of table: ByteText) throws {
        self.init()
        for document in documents {
            guard let key = document["_id"].flatMap(Self.key) else {
                throw BrokenRule("a document without a key: \(document)")
            }
            objects[ObjectAddress(table: table, key: key)] = try Self.object(
                document,
                Self.fields(of: table)
            )
        }
    }

    private static func key(_ id: BSONValue) -> ObjectKey? {
        switch id {
        case .string(let text): .string(ByteText(text))
        case .objectID(let id): .objectID(id)
        default: id.exactInt64.map { .int($0) }
        }
    }

    private static func object(_ document: BSONDocument, _ fields: [String: Kind]) throws
        -> [ByteText: Value]
    {
        var object = fresh(fields)
        for (name, kind) in fields {
            guard let value = document[name] else { continue }
            object[ByteText(name)] = try Self.value(value, kind)
        }
        return object
    }

    private static func value(_ value: BSONValue, _ kind: Kind) throws -> Value {
        switch (kind, value) {
        case (.object, .document(let document)): return .object(try object(document, embedded))
        case (.set, .array(let members)): return .set(Set(try members.map(plain)))
        case (.list(let element), .array(let elements)):
            return .list(try elements.map { try Self.value($0, element) })
        case (.dictionary(let element), .document(let document)):
            return .dictionary(try dictionary(document, element))
        case (.mixed, .array(let elements)): return .list(try elements.map { try Self.value($0, .mixed) })
        case (.mixed, .document(let document)): return .dictionary(try dictionary(document, .mixed))
        case (.plain, _), (.mixed, _), (.object, .null): return .plain(try plain(value))
        default: throw BrokenRule("a value of the wrong kind: \(value)")
        }
    }

    private static func dictionary(_ document: BSONDocument, _ kind: Kind) throws -> [ByteText: Value] {
        var values: [ByteText: Value] = [:]
        for field in document { values[ByteText(field.key)] = try value(field.value, kind) }
        return values
    }

    private static func plain(_ value: BSONValue) throws -> Payload {
        switch value {
        case .null: return .null
        case .string(let text): return .string(ByteText(text))
        case .bool(let flag): return .bool(flag)
        case .objectID(let id): return .objectID(id)
        case .double(let number): return .double(number.bitPattern)
        default:
            guard let number = value.exactInt64 else { throw BrokenRule("not a plain value: \(value)") }
            return .int(number)
        }
    }

    /// Where two states differ, for people; empty when they do not.
    package func differences(from other: RealmState) -> [String] {
        var found: [String] = []
        for object in Set(objects.keys).union(other.objects.keys)
        where objects[object] != other.objects[object] {
            guard let here = objects[object], let there = other.objects[object] else {
                let place = objects[object] == nil ? "missing" : "too much"
                found.append("\(object.key) is \(place)")
                continue
            }
            for name in here.keys where here[name] != there[name] {
                let texts = [here[name], there[name]].map { $0.map { "\($0)" } ?? "nothing" }
                found.append("\(object.key).\(name.text): \(texts[0]) instead of \(texts[1])")
            }
        }
        return found.sorted()
    }
}
