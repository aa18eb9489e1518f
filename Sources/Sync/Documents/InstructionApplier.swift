import BSON

/// Applies instructions about one object to its document.
///
/// Source: `realm-sync-protocol.md` §6.3.
struct InstructionApplier {
    let schema: SyncSchema
    let type: SyncClass
    private var document: BSONDocument?
    /// Whether the object began here, so that what the device did not say is filled in.
    private var isCreated = false
    /// Whether an embedded object began here.
    var hasNewObjects = false

    init(schema: SyncSchema, type: SyncClass, document: BSONDocument?) {
        self.schema = schema
        self.type = type
        self.document = document
    }

    /// A change of one value, without its place.
    struct Change {
        enum Kind {
            case update(Payload)
            case addInteger(Int64)
            case insert(Payload, priorSize: UInt32)
            case updateElement(Payload, priorSize: UInt32)
            case move(to: UInt32, priorSize: UInt32)
            case erase(priorSize: UInt32)
            case clear(CollectionKind)
            case setInsert(Payload)
            case setErase(Payload)
        }

        var kind: Kind
        var address: ValueAddress

        /// Whether the last step of the way is an index that the change itself uses.
        var endsInIndex: Bool {
            switch kind {
            case .insert, .updateElement, .move, .erase: true
            case .update, .addInteger, .clear, .setInsert, .setErase: false
            }
        }

        func fault(_ problem: String) -> SyncFault {
            var place = address.field.text
            for step in address.path {
                switch step {
                case .key(let key): place += ".\(key.text)"
                case .index(let index): place += "[\(index)]"
                }
            }
            return SyncFault(
                .badChangeset,
                "\"\(place)\" of an object of class \(quoted(address.object.table)): \(problem)"
            )
        }
    }

    /// Does what one instruction says.
    mutating func apply(_ instruction: Instruction) throws(SyncFault) {
        guard instruction.table == type.name else {
            throw SyncFault(
                .badChangeset,
                "an instruction about class \(quoted(instruction.table)) stands among those about \(quoted(type.name))"
            )
        }
        switch instruction {
        case .addTable, .eraseTable, .addColumn, .eraseColumn: break
        case .createObject(let object): try create(object)
        case .eraseObject:
            document = nil
            isCreated = false
        case .update(let address, let payload, .value): try change(.update(payload), address)
        case .update(let address, let payload, .element(let size)):
            try change(.updateElement(payload, priorSize: size), address)
        case .addInteger(let address, let number): try change(.addInteger(number), address)
        case .arrayInsert(let address, let payload, let size):
            try change(.insert(payload, priorSize: size), address)
        case .arrayMove(let address, let target, let size):
            try change(.move(to: target, priorSize: size), address)
        case .arrayErase(let address, let size): try change(.erase(priorSize: size), address)
        case .clear(let address, let kind): try change(.clear(kind), address)
        case .setInsert(let address, let payload): try change(.setInsert(payload), address)
        case .setErase(let address, let payload): try change(.setErase(payload), address)
        }
    }

    private mutating func create(_ object: ObjectAddress) throws(SyncFault) {
        if document != nil { return }
        guard let id = schema.key(object.key, of: type) else {
            throw SyncFault(
                .badChangeset,
                "an object of class \(quoted(type.name)) has a primary key of another type"
            )
        }
        document = ["_id": id]
        isCreated = true
    }

    private mutating func change(_ kind: Change.Kind, _ address: ValueAddress) throws(SyncFault) {
        guard var changed = document else { return }
        // The only holder of the fields changes them in place.
        document = nil
        let change = Change(kind: kind, address: address)
        if address.field == type.keyColumn?.field { throw change.fault("a primary key never changes") }
        try apply(change, address.path[...], to: address.field, of: &changed, type)
        document = changed
    }

    /// The document at the end, with zero values for the required fields that new objects lack.
    var result: BSONDocument? {
        guard isCreated || hasNewObjects, var document else { return document }
        fill(&document, type, itself: isCreated)
        return document
    }

    /// Gives required fields that were not said; last, so that the others keep the order in which they were.
    private func fill(_ document: inout BSONDocument, _ type: SyncClass, itself: Bool) {
        for property in type.properties {
            let place = document.index(of: property.name.text)
            if case .embedded(let name) = property.type, let embedded = schema[name] {
                guard hasNewObjects, let place else { continue }
                if property.collection == .dictionary,
                    case .document(var values) = document.fields[place].value
                {
                    for index in values.fields.indices { fillInside(&values.fields[index].value, embedded) }
                    document.fields[place].value = .document(values)
                } else {
                    fillInside(&document.fields[place].value, embedded)
                }
            } else if itself, place == nil, property.collection == .single, !property.isNullable,
                property.defaultValue == nil
            {
                document.append(property.name.text, schema.zero(property.type))
            }
        }
    }

    /// An embedded object, or a list of them.
    private func fillInside(_ value: inout BSONValue, _ type: SyncClass) {
        switch value {
        case .document(var document):
            fill(&document, type, itself: true)
            value = .document(document)
        case .array(var elements):
            for index in elements.indices { fillInside(&elements[index], type) }
            value = .array(elements)
        default: break
        }
    }

    /// Changes a field of the object, or of one embedded in it.
    mutating func apply(
        _ change: Change,
        _ path: ArraySlice<PathElement>,
        to field: ByteText,
        of document: inout BSONDocument,
        _ type: SyncClass
    ) throws(SyncFault) {
        guard let property = type.property(field) else {
            throw SyncFault(
                .invalidSchemaChange,
                "property \(quoted(field)) of class \(quoted(type.name)) is not in the app's schema"
            )
        }
        let place = document.index(of: field.text)
        var value: BSONValue?
        if let place {
            value = document.fields[place].value
            document.fields[place].value = .null
        } else {
            value = property.defaultValue
        }
        switch property.collection {
        case .single: try single(change, path, &value, property)
        case .list: try list(change, path, &value, property.type, isNullable: property.isNullable)
        case .dictionary:
            try dictionary(change, path, &value, property.type, isNullable: property.isNullable)
        case .set: try set(change, path, &value, property)
        }
        if case .update(.null) = change.kind, path.isEmpty, !property.keepsNull { value = nil }
        if let place {
            if let value { document.fields[place].value = value } else { document.fields.remove(at: place) }
        } else if let value {
            document.append(field.text, value)
        }
    }

    private mutating func single(
        _ change: Change,
        _ path: ArraySlice<PathElement>,
        _ value: inout BSONValue?,
        _ property: SyncProperty
    ) throws(SyncFault) {
        switch property.type {
        case .embedded(let name): try embedded(change, path, &value, name, isNullable: true)
        case .mixed: try mixed(change, path, &value)
        default:
            guard path.isEmpty else {
                throw change.fault("there is nothing below a \(property.type.description)")
            }
            switch change.kind {
            case .update(let payload):
                value = try scalar(payload, property.type, isNullable: property.isNullable, change)
            case .addInteger(let number): try add(number, to: &value, property, change)
            default: throw change.fault("is not a collection")
            }
        }
    }

    /// The stored form of a value of the wire.
    func scalar(
        _ payload: Payload,
        _ type: SyncType,
        isNullable: Bool,
        _ change: Change
    ) throws(SyncFault) -> BSONValue {
        if payload == .null, !isNullable { throw change.fault("cannot be null") }
        guard let value = schema.value(payload, as: type) else {
            throw change.fault("is \(type.description), not \(payload.kind.name)")
        }
        return value
    }

    private func add(
        _ number: Int64,
        to value: inout BSONValue?,
        _ property: SyncProperty,
        _ change: Change
    ) throws(SyncFault) {
        guard property.type.kind == .int else { throw change.fault("is not an integer") }
        let old: Int64
        switch value {
        case .int32(let number)?: old = Int64(number)
        case .int64(let number)?: old = number
        // A new object's required field is zero before it is said.
        case nil where !property.isNullable: old = 0
        default: return
        }
        value = schema.value(.int(old &+ number), as: property.type)
    }
}
