import BSON

/// Says the state of values as instructions.
struct StateWriter {
    let schema: SyncSchema
    let object: ObjectAddress
    /// Whether what is null or empty goes without saying.
    let isFresh: Bool
    var instructions: [Instruction] = []

    /// A place in the object: a field of its class, and the way below it.
    typealias Path = [PathElement]

    /// The way starts with the field's own name.
    func address(_ path: Path) -> ValueAddress {
        guard case .key(let field)? = path.first else {
            return ValueAddress(object: object, field: ByteText(""), path: path)
        }
        return ValueAddress(object: object, field: field, path: Array(path.dropFirst()))
    }

    mutating func set(_ path: Path, _ payload: Payload) {
        instructions.append(.update(address(path), payload, .value(isDefault: false)))
    }

    /// A property of the object or of one embedded in it.
    mutating func field(_ property: SyncProperty, _ stored: BSONValue?, at path: Path) {
        let value = stored ?? property.defaultValue
        let path = path + [.key(property.name)]
        switch property.collection {
        case .single:
            guard let value, !value.isNull else {
                // A document that a device can have lacks what is required only if a role hides it.
                if !property.isNullable {
                    single(schema.zero(property.type), property.type, at: path)
                } else if !isFresh {
                    set(path, .null)
                }
                return
            }
            single(value, property.type, at: path)
        case .list: list(value?.array ?? [], property.type, isNullable: property.isNullable, at: path)
        case .dictionary:
            dictionary(value?.document ?? [:], property.type, isNullable: property.isNullable, at: path)
        case .set:
            if !isFresh { instructions.append(.clear(address(path), .set)) }
            for member in members(value?.array ?? [], property).members {
                instructions.append(.setInsert(address(path), member.payload))
            }
        }
    }

    /// The members of a set, without repetitions, in order.
    func members(_ elements: [BSONValue], _ property: SyncProperty) -> SetMembers {
        var members = SetMembers()
        for element in elements where property.isNullable || !element.isNull {
            guard let payload = schema.payload(element, as: property.type) else { continue }
            switch payload {
            case .list, .dictionary, .objectValue: continue
            default: members.insert(payload, element)
            }
        }
        return members
    }

    /// One value that is not in a list.
    mutating func single(_ value: BSONValue, _ type: SyncType, at path: Path) {
        guard let payload = schema.payload(value, as: type) else { return }
        set(path, payload)
        contents(value, payload, type, isFresh: isFresh, at: path)
    }

    /// What stands in an object or collection that has just been begun.
    mutating func contents(
        _ value: BSONValue,
        _ payload: Payload,
        _ type: SyncType,
        isFresh: Bool,
        at path: Path
    ) {
        guard isFresh == self.isFresh else {
            var inner = StateWriter(schema: schema, object: object, isFresh: isFresh)
            inner.contents(value, payload, type, isFresh: isFresh, at: path)
            instructions += inner.instructions
            return
        }
        switch (payload, type, value) {
        case (.objectValue, .embedded(let name), .document(let document)):
            for property in schema[name]?.properties ?? [] {
                field(property, document[property.name.text], at: path)
            }
        case (.list, _, .array(let elements)): list(elements, .mixed, isNullable: true, at: path)
        case (.dictionary, _, .document(let document)):
            dictionary(document, .mixed, isNullable: true, at: path)
        default: break
        }
    }

    private mutating func list(_ elements: [BSONValue], _ type: SyncType, isNullable: Bool, at path: Path) {
        if !isFresh { instructions.append(.clear(address(path), .list)) }
        var size: UInt32 = 0
        for element in elements where isNullable || !element.isNull {
            if insert(element, type, at: path, size, priorSize: size) { size += 1 }
        }
    }

    /// A new element of a list; false when it is not of the type.
    mutating func insert(
        _ element: BSONValue,
        _ type: SyncType,
        at path: Path,
        _ index: UInt32,
        priorSize: UInt32
    ) -> Bool {
        guard let payload = schema.payload(element, as: type) else { return false }
        let path = path + [.index(index)]
        instructions.append(.arrayInsert(address(path), payload, priorSize: priorSize))
        contents(element, payload, type, isFresh: true, at: path)
        return true
    }

    private mutating func dictionary(
        _ document: BSONDocument,
        _ type: SyncType,
        isNullable: Bool,
        at path: Path
    ) {
        if !isFresh { instructions.append(.clear(address(path), .dictionary)) }
        for field in document where isNullable || !field.value.isNull {
            guard let payload = schema.payload(field.value, as: type) else { continue }
            let path = path + [.key(ByteText(field.key))]
            set(path, payload)
            contents(field.value, payload, type, isFresh: true, at: path)
        }
    }
}

/// The members of a set in order, each once; numbers are equal across their types.
struct SetMembers {
    private(set) var members: [(key: BSONKey, payload: Payload)] = []
    private var seen: Set<BSONKey> = []

    mutating func insert(_ payload: Payload, _ value: BSONValue) {
        let key = BSONKey(value)
        if seen.insert(key).inserted { members.append((key, payload)) }
    }

    func contains(_ key: BSONKey) -> Bool { seen.contains(key) }
}
