package import BSON
package import Sync

/// What a Realm file holds, and how changes are applied to it: as realm-core's instruction applier does.
///
/// Links are plain values here, dangling or not.
package struct RealmState: Equatable, Sendable {
    /// What a property, or an element of a collection, may be.
    package indirect enum Kind: Sendable {
        /// One value of a simple type or a link, null allowed.
        case plain
        case mixed
        case set
        case list(Kind)
        case dictionary(Kind)
        /// One object of `RealmState.embedded`.
        case object
    }

    package indirect enum Value: Equatable, Sendable {
        case plain(Payload)
        case set(Set<Payload>)
        case list([Value])
        case dictionary([ByteText: Value])
        case object([ByteText: Value])
    }

    /// What random changes are made to, in every top-level class that has no properties of its own here.
    package static let fields: [String: Kind] = [
        "s": .plain, "i": .plain, "m": .mixed, "e": .object, "li": .list(.plain), "le": .list(.object),
        "lm": .list(.mixed), "st": .set, "d": .dictionary(.plain), "de": .dictionary(.object),
        "dm": .dictionary(.mixed),
    ]

    /// Who may see an object, and in which run of a test it was made; random changes leave these alone.
    package static let labels: [String: Kind] = ["g": .plain, "who": .plain]

    /// The properties of top-level classes with a shape of their own.
    package static let classes: [ByteText: [String: Kind]] = [
        ByteText("Item"): ["ownerId": .plain, "itemName": .plain, "complexity": .plain],
        ByteText("Task"): ["realm_id": .plain, "name": .plain, "count": .plain, "color": .plain],
        ByteText("Note"): [
            "ownerId": .plain, "title": .plain, "body": .plain, "size": .plain, "tags": .list(.plain),
        ],
        ByteText("Dog"): [
            "name": .plain, "legs": .plain, "age": .plain, "owner": .plain, "tags": .list(.plain),
        ],
        // What is called Note at another version of the schema.
        ByteText("Slip"): ["ownerId": .plain, "title": .plain, "size": .plain, "tags": .list(.plain)],
        ByteText("Cat"): ["name": .plain, "age": .plain, "toys": .list(.plain)],
    ]

    /// The properties of a top-level class.
    package static func fields(of table: ByteText) -> [String: Kind] {
        classes[table] ?? fields.merging(labels) { first, _ in first }
    }

    /// The properties of embedded objects.
    package static let embedded: [String: Kind] = [
        "x": .plain, "i": .plain, "m": .mixed, "e": .object, "li": .list(.plain), "d": .dictionary(.plain),
    ]

    package var objects: [ObjectAddress: [ByteText: Value]] = [:]

    /// Why an instruction cannot be applied.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    package init() {}

    package mutating func apply(_ changeset: Changeset) throws {
        for instruction in changeset.instructions { try apply(instruction) }
    }

    package mutating func apply(_ instruction: Instruction) throws {
        switch instruction {
        case .createObject(let object):
            if objects[object] == nil { objects[object] = Self.fresh(Self.fields(of: object.table)) }
        case .eraseObject(let object): objects[object] = nil
        case .addTable, .eraseTable, .addColumn, .eraseColumn:
            throw Refusal(description: "the schema of this state is fixed: \(instruction)")
        default:
            guard let address = instruction.address, var object = objects[address.object] else {
                throw Refusal(description: "no such object: \(instruction)")
            }
            do {
                try Self.apply(
                    instruction,
                    to: &object,
                    Self.fields(of: address.object.table),
                    address.field,
                    address.path[...]
                )
            } catch let refusal as Refusal {
                throw Refusal(description: "\(refusal): \(instruction)")
            }
            objects[address.object] = object
        }
    }

    package static func fresh(_ fields: [String: Kind]) -> [ByteText: Value] {
        var object: [ByteText: Value] = [:]
        for (name, kind) in fields { object[ByteText(name)] = fresh(kind) }
        return object
    }

    private static func fresh(_ kind: Kind) -> Value {
        switch kind {
        case .plain, .mixed, .object: .plain(.null)
        case .set: .set([])
        case .list: .list([])
        case .dictionary: .dictionary([:])
        }
    }

    private static func apply(
        _ instruction: Instruction,
        to object: inout [ByteText: Value],
        _ fields: [String: Kind],
        _ field: ByteText,
        _ path: ArraySlice<PathElement>
    ) throws {
        guard let kind = fields[field.text], var value = object[field] else {
            throw Refusal(description: "no such field")
        }
        try apply(instruction, to: &value, kind, path)
        object[field] = value
    }

    private static func apply(
        _ instruction: Instruction,
        to value: inout Value,
        _ kind: Kind,
        _ path: ArraySlice<PathElement>
    ) throws {
        guard let step = path.first else { return try change(&value, kind, instruction) }
        let rest = path.dropFirst()
        switch (value, step) {
        case (.list(var list), .index(let index)):
            let elementKind = if case .list(let kind) = kind { kind } else { Kind.mixed }
            if rest.isEmpty {
                try change(&list, Int(index), elementKind, instruction)
            } else {
                guard Int(index) < list.count else { throw Refusal(description: "no such element") }
                try apply(instruction, to: &list[Int(index)], elementKind, rest)
            }
            value = .list(list)
        case (.dictionary(var dictionary), .key(let key)):
            let elementKind = if case .dictionary(let kind) = kind { kind } else { Kind.mixed }
            if rest.isEmpty {
                try change(&dictionary, key, elementKind, instruction)
            } else {
                guard var inner = dictionary[key] else { throw Refusal(description: "no such key") }
                try apply(instruction, to: &inner, elementKind, rest)
                dictionary[key] = inner
            }
            value = .dictionary(dictionary)
        case (.object(var object), .key(let field)):
            try apply(instruction, to: &object, embedded, field, rest)
            value = .object(object)
        default: throw Refusal(description: "the path leads nowhere")
        }
    }
}

extension RealmState {
    /// Changes a whole field.
    private static func change(_ value: inout Value, _ kind: Kind, _ instruction: Instruction) throws {
        switch (instruction, kind, value) {
        case (.update(_, .objectValue, .value), .object, .plain): value = .object(fresh(embedded))
        case (.update(_, .objectValue, .value), .object, _): break
        case (.update(_, .null, .value), .object, _): value = .plain(.null)
        case (.update(_, let payload, .value), .mixed, _): set(&value, payload)
        case (.update(_, let payload, .value), .plain, _): value = .plain(payload)
        case (.addInteger(_, let amount), _, .plain(.int(let number))): value = .plain(.int(number &+ amount))
        case (.addInteger, _, .plain(.null)): break
        case (.clear(_, .list), .list, _): value = .list([])
        case (.clear(_, .dictionary), .dictionary, _): value = .dictionary([:])
        case (.clear(_, .set), .set, _): value = .set([])
        case (.clear(_, let kind), .mixed, _): clear(&value, kind)
        case (.setInsert(_, let payload), .set, .set(var set)):
            set.insert(payload)
            value = .set(set)
        case (.setErase(_, let payload), .set, .set(var set)):
            set.remove(payload)
            value = .set(set)
        default: throw Refusal(description: "the field cannot be changed so")
        }
    }

    /// Changes one element of a list.
    private static func change(
        _ list: inout [Value],
        _ index: Int,
        _ kind: Kind,
        _ instruction: Instruction
    ) throws {
        func check(_ size: UInt32, _ limit: Int) throws {
            guard list.count == Int(size) else {
                throw Refusal(description: "the list has \(list.count) elements")
            }
            guard index < limit else { throw Refusal(description: "no such element") }
        }
        switch instruction {
        case .update(_, let payload, .element(let size)):
            try check(size, list.count)
            if payload != .objectValue { set(&list[index], payload) }
        case .arrayInsert(_, let payload, let size):
            try check(size, list.count + 1)
            var value = Value.plain(.null)
            set(&value, payload)
            list.insert(value, at: index)
        case .arrayMove(_, let target, let size):
            try check(size, list.count)
            guard target < size, index != Int(target) else { throw Refusal(description: "no such move") }
            list.insert(list.remove(at: index), at: Int(target))
        case .arrayErase(_, let size):
            try check(size, list.count)
            list.remove(at: index)
        case .clear(_, let collection):
            try check(UInt32(list.count), list.count)
            guard case .mixed = kind else { throw Refusal(description: "the element cannot be cleared") }
            clear(&list[index], collection)
        default: throw Refusal(description: "the element cannot be changed so")
        }
    }

    /// Changes one value of a dictionary.
    private static func change(
        _ dictionary: inout [ByteText: Value],
        _ key: ByteText,
        _ kind: Kind,
        _ instruction: Instruction
    ) throws {
        switch instruction {
        case .update(_, .erased, .value): dictionary[key] = nil
        case .update(_, .objectValue, .value): dictionary[key] = .object(fresh(embedded))
        case .update(_, let payload, .value):
            var value = dictionary[key] ?? .plain(.null)
            set(&value, payload)
            dictionary[key] = value
        case .clear(_, let collection):
            guard case .mixed = kind, var value = dictionary[key] else {
                throw Refusal(description: "no collection under the key")
            }
            clear(&value, collection)
            dictionary[key] = value
        default: throw Refusal(description: "the value of a dictionary cannot be changed so")
        }
    }

    /// Sets a value; that a collection begins leaves one of the same kind as it is.
    private static func set(_ value: inout Value, _ payload: Payload) {
        switch (payload, value) {
        case (.list, .list), (.dictionary, .dictionary): break
        case (.list, _): value = .list([])
        case (.dictionary, _): value = .dictionary([:])
        case (.objectValue, _): value = .object(fresh(embedded))
        default: value = .plain(payload)
        }
    }

    private static func clear(_ value: inout Value, _ kind: CollectionKind) {
        value = kind == .list ? .list([]) : .dictionary([:])
    }
}
