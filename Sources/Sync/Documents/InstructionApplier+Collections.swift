import BSON

extension InstructionApplier {
    /// Changes an embedded object, or one of its fields.
    mutating func embedded(
        _ change: Change,
        _ path: ArraySlice<PathElement>,
        _ value: inout BSONValue?,
        _ name: ByteText,
        isNullable: Bool
    ) throws(SyncFault) {
        guard let step = path.first else {
            guard case .update(let payload) = change.kind else { throw change.fault("is an embedded object") }
            if payload == .objectValue, value?.document != nil { return }
            value = try new(payload, .embedded(name), isNullable: isNullable, change)
            return
        }
        guard case .key(let field) = step, let type = schema[name] else {
            throw change.fault("an embedded object has fields, not elements")
        }
        guard case .document(var document)? = value else { throw change.fault("there is no embedded object") }
        value = nil
        try apply(change, path.dropFirst(), to: field, of: &document, type)
        value = .document(document)
    }

    /// A value that begins to exist.
    private mutating func new(
        _ payload: Payload,
        _ type: SyncType,
        isNullable: Bool,
        _ change: Change
    ) throws(SyncFault) -> BSONValue {
        let value = try scalar(payload, type, isNullable: isNullable, change)
        if payload == .objectValue { hasNewObjects = true }
        return value
    }

    /// Changes a mixed value, or what is below it.
    mutating func mixed(
        _ change: Change,
        _ path: ArraySlice<PathElement>,
        _ value: inout BSONValue?
    ) throws(SyncFault) {
        switch path.first {
        case nil:
            switch change.kind {
            case .update(let payload):
                if payload == .list, case .array? = value { return }
                if payload == .dictionary, isDictionary(value) { return }
                value = try scalar(payload, .mixed, isNullable: true, change)
            case .clear(.list): value = .array([])
            case .clear(.dictionary): value = .document([:])
            case .clear: throw change.fault("a mixed value holds no set")
            case .addInteger(let number):
                // What is no integer stays.
                if case .int32(let old)? = value { value = .int64(Int64(old) &+ number) }
                if case .int64(let old)? = value { value = .int64(old &+ number) }
            default: throw change.fault("is not a collection")
            }
        case .index?:
            guard case .array? = value else { throw change.fault("there is no list") }
            try list(change, path, &value, .mixed, isNullable: true)
        case .key?:
            guard isDictionary(value) else { throw change.fault("there is no dictionary") }
            try dictionary(change, path, &value, .mixed, isNullable: true)
        }
    }

    /// Whether a mixed value is a dictionary, not a link.
    private func isDictionary(_ value: BSONValue?) -> Bool {
        value?.document.map { $0.firstKey != "$ref" } ?? false
    }

    /// Goes into an element or value, or changes it.
    private mutating func inside(
        _ change: Change,
        _ path: ArraySlice<PathElement>,
        _ value: inout BSONValue?,
        _ type: SyncType,
        isNullable: Bool
    ) throws(SyncFault) {
        switch type {
        case .embedded(let name): try embedded(change, path, &value, name, isNullable: isNullable)
        case .mixed: try mixed(change, path, &value)
        default:
            guard path.isEmpty, case .update(let payload) = change.kind else {
                throw change.fault("there is nothing below a \(type.description)")
            }
            value = try scalar(payload, type, isNullable: isNullable, change)
        }
    }

    /// Changes a list, or goes into one of its elements.
    mutating func list(
        _ change: Change,
        _ path: ArraySlice<PathElement>,
        _ value: inout BSONValue?,
        _ type: SyncType,
        isNullable: Bool
    ) throws(SyncFault) {
        guard let step = path.first else {
            guard case .clear(.list) = change.kind else { throw change.fault("is a list") }
            value = .array([])
            return
        }
        guard case .index(let index) = step else { throw change.fault("a list has elements, not keys") }
        var elements = value?.array ?? []
        value = nil
        let place = Int(index)
        if path.count == 1, change.endsInIndex {
            try self.element(change, place, &elements, type, isNullable: isNullable)
        } else {
            guard place < elements.count else { throw change.fault("the list has no such element") }
            var element: BSONValue? = elements[place]
            elements[place] = .null
            try inside(change, path.dropFirst(), &element, type, isNullable: isNullable)
            elements[place] = element ?? .null
        }
        value = .array(elements)
    }

    /// Inserts, replaces, moves or takes away an element.
    private mutating func element(
        _ change: Change,
        _ place: Int,
        _ elements: inout [BSONValue],
        _ type: SyncType,
        isNullable: Bool
    ) throws(SyncFault) {
        func check(_ size: UInt32, _ limit: Int) throws(SyncFault) {
            guard Int(size) == elements.count else {
                throw change.fault("the list has \(elements.count) elements, not \(size)")
            }
            guard place < limit else { throw change.fault("the list has no such element") }
        }
        switch change.kind {
        case .insert(let payload, let size):
            try check(size, elements.count + 1)
            let value = try new(payload, type, isNullable: isNullable, change)
            elements.insert(value, at: place)
        case .updateElement(let payload, let size):
            try check(size, elements.count)
            var element: BSONValue? = elements[place]
            var update = change
            update.kind = .update(payload)
            try inside(update, [], &element, type, isNullable: isNullable)
            elements[place] = element ?? .null
        case .move(let target, let size):
            try check(size, elements.count)
            guard Int(target) < elements.count else { throw change.fault("the list has no such place") }
            let element = elements.remove(at: place)
            elements.insert(element, at: Int(target))
        case .erase(let size):
            try check(size, elements.count)
            elements.remove(at: place)
        default: throw change.fault("is an element of a list")
        }
    }

    /// Changes a dictionary, or goes into the value of a key.
    mutating func dictionary(
        _ change: Change,
        _ path: ArraySlice<PathElement>,
        _ value: inout BSONValue?,
        _ type: SyncType,
        isNullable: Bool
    ) throws(SyncFault) {
        guard let step = path.first else {
            guard case .clear(.dictionary) = change.kind else { throw change.fault("is a dictionary") }
            value = .document([:])
            return
        }
        guard case .key(let key) = step else { throw change.fault("a dictionary has keys, not elements") }
        var document = value?.document ?? [:]
        value = nil
        if path.count == 1, case .update(.erased) = change.kind {
            document[key.text] = nil
        } else {
            let place = document.index(of: key.text)
            var inner: BSONValue?
            if let place {
                inner = document.fields[place].value
                document.fields[place].value = .null
            } else if path.count > 1 {
                throw change.fault("the dictionary has no such key")
            }
            try inside(change, path.dropFirst(), &inner, type, isNullable: isNullable)
            if let place {
                document.fields[place].value = inner ?? .null
            } else if let inner {
                document.append(key.text, inner)
            }
        }
        value = .document(document)
    }

    /// Changes a set.
    func set(
        _ change: Change,
        _ path: ArraySlice<PathElement>,
        _ value: inout BSONValue?,
        _ property: SyncProperty
    ) throws(SyncFault) {
        guard path.isEmpty else { throw change.fault("there is nothing below a set") }
        var elements = value?.array ?? []
        value = nil
        switch change.kind {
        case .clear(.set): elements = []
        case .setInsert(let payload):
            let member = try self.member(payload, property, change)
            if !elements.contains(where: { BSONOrdering.equal($0, member) }) { elements.append(member) }
        case .setErase(let payload):
            let member = try self.member(payload, property, change)
            elements.removeAll { BSONOrdering.equal($0, member) }
        default: throw change.fault("is a set")
        }
        value = .array(elements)
    }

    private func member(_ payload: Payload, _ property: SyncProperty, _ change: Change) throws(SyncFault)
        -> BSONValue
    {
        switch payload {
        case .list, .dictionary, .objectValue: throw change.fault("a set holds no collections")
        default: return try scalar(payload, property.type, isNullable: property.isNullable, change)
        }
    }
}
