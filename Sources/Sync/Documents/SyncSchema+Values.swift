import BSON
import MQL

extension SyncSchema {
    /// What a stored value is on the wire.
    ///
    /// Of an array or document in a mixed property the beginning of a collection, of a document in an embedded one
    /// the beginning of an object.
    ///
    /// - Returns: Nil when the value is not of the type; null is of each.
    func payload(_ value: BSONValue, as type: SyncType) -> Payload? {
        switch (type, value) {
        case (_, .null), (.mixed, .undefined): .null
        case (.int, .int32(let number)), (.long, .int32(let number)), (.mixed, .int32(let number)):
            .int(Int64(number))
        case (.int, .int64(let number)), (.long, .int64(let number)), (.mixed, .int64(let number)):
            .int(number)
        case (.bool, .bool(let value)), (.mixed, .bool(let value)): .bool(value)
        case (.string, .string(let text)), (.mixed, .string(let text)): .string(ByteText(text))
        case (.uuid, .binary(let binary)):
            binary.subtype == 4 ? UUIDBytes(binary.bytes).map { .uuid($0) } : nil
        case (.binary, .binary(let binary)): .binary(binary.bytes)
        case (.mixed, .binary(let binary)):
            if binary.subtype == 4, let uuid = UUIDBytes(binary.bytes) {
                .uuid(uuid)
            } else {
                .binary(binary.bytes)
            }
        case (.date, .date(let time)), (.mixed, .date(let time)):
            .timestamp(SyncTimestamp(milliseconds: time))
        case (.float, .double), (.float, .int32), (.float, .int64):
            exactDouble(value).map { .float(Float($0).bitPattern) }
        case (.double, .double), (.double, .int32), (.double, .int64), (.mixed, .double):
            exactDouble(value).map { .double($0.bitPattern) }
        case (.decimal, .decimal128(let number)), (.mixed, .decimal128(let number)): .decimal(number)
        case (.decimal, .int32(let number)): Decimal128(String(number)).map { .decimal($0) }
        case (.decimal, .int64(let number)): Decimal128(String(number)).map { .decimal($0) }
        case (.objectID, .objectID(let id)), (.mixed, .objectID(let id)): .objectID(id)
        case (.link(let name), _): link(value, to: name)
        case (.embedded, .document): .objectValue
        case (.mixed, .document(let document)):
            document.firstKey == "$ref" ? reference(document) : .dictionary
        case (.mixed, .array): .list
        default: nil
        }
    }

    private func exactDouble(_ value: BSONValue) -> Double? {
        switch value {
        case .double(let number): number
        case .int32(let number): Double(number)
        case .int64(let number): Double(exactly: number)
        default: nil
        }
    }

    private func link(_ value: BSONValue, to name: ByteText) -> Payload? {
        guard let key = ObjectKey(value), let target = self[name]?.keyColumn, key.kind == target.type else {
            return nil
        }
        return .link(ObjectAddress(table: name, key: key))
    }

    /// A link in a mixed property: `{$ref: collection, $id: key}`, with `$db` where the collection's name says too little.
    private func reference(_ document: BSONDocument) -> Payload? {
        guard let collection = document["$ref"]?.string, let id = document["$id"] else { return nil }
        let database = document["$db"]?.string
        let type = classes.first { type in
            guard let namespace = type.namespace else { return false }
            return TextOrder.equal(namespace.collection, collection)
                && (database.map { TextOrder.equal(namespace.database, $0) } ?? true)
        }
        return type.flatMap { link(id, to: $0.name) }
    }

    private func reference(_ address: ObjectAddress) -> BSONValue? {
        guard let target = self[address.table], let namespace = target.namespace,
            let id = key(address.key, of: target)
        else { return nil }
        var document: BSONDocument = ["$ref": .string(namespace.collection), "$id": id]
        let isShared = classes.contains {
            guard let other = $0.namespace, other != namespace else { return false }
            return TextOrder.equal(other.collection, namespace.collection)
        }
        if isShared { document.append("$db", .string(namespace.database)) }
        return .document(document)
    }

    /// The `_id` of a key, when it is of the class's type.
    func key(_ key: ObjectKey, of type: SyncClass) -> BSONValue? {
        guard let column = type.keyColumn, let keyType = type.keyType,
            key.kind == column.type || key == .null && column.isNullable
        else { return nil }
        return key.bsonValue(keyType)
    }

    /// What a value of the wire is in a document.
    ///
    /// - Returns: Nil when the value is not of the type. The beginning of a collection or object is an empty one.
    func value(_ payload: Payload, as type: SyncType) -> BSONValue? {
        switch (type, payload) {
        case (_, .null): .null
        case (.int, .int(let number)): BSONValue(narrowing: number)
        case (.long, .int(let number)), (.mixed, .int(let number)): .int64(number)
        case (.bool, .bool(let value)), (.mixed, .bool(let value)): .bool(value)
        case (.string, .string(let text)), (.mixed, .string(let text)): .string(text.text)
        case (.binary, .binary(let bytes)), (.mixed, .binary(let bytes)):
            .binary(BSONBinary(subtype: 0, bytes: bytes))
        case (.date, .timestamp(let time)), (.mixed, .timestamp(let time)): .date(time.milliseconds)
        case (.float, .float(let bits)), (.double, .float(let bits)), (.mixed, .float(let bits)):
            .double(Double(Float(bitPattern: bits)))
        case (.float, .double(let bits)), (.double, .double(let bits)), (.mixed, .double(let bits)):
            .double(Double(bitPattern: bits))
        case (.decimal, .decimal(let number)), (.mixed, .decimal(let number)): .decimal128(number)
        case (.objectID, .objectID(let id)), (.mixed, .objectID(let id)): .objectID(id)
        case (.uuid, .uuid(let uuid)), (.mixed, .uuid(let uuid)):
            .binary(BSONBinary(subtype: 4, bytes: uuid.bytes))
        case (.link(let name), .link(let target)):
            target.table == name ? self[name].flatMap { key(target.key, of: $0) } : nil
        case (.mixed, .link(let target)): reference(target)
        case (.mixed, .dictionary), (.embedded, .objectValue): .document([:])
        case (.mixed, .list): .array([])
        default: nil
        }
    }

    /// What a property of the type begins as when it cannot be null.
    func zero(_ type: SyncType) -> BSONValue {
        switch type {
        case .int: .int32(0)
        case .long: .int64(0)
        case .bool: .bool(false)
        case .string: .string("")
        case .binary: .binary(BSONBinary(subtype: 0, bytes: []))
        case .date: .date(0)
        case .float, .double: .double(0)
        case .decimal: Decimal128("0").map { .decimal128($0) } ?? .null
        case .objectID: .objectID(ObjectID(seconds: 0, unique: 0))
        case .uuid: .binary(BSONBinary(subtype: 4, bytes: Array(repeating: 0, count: 16)))
        case .mixed, .link, .embedded: .null
        }
    }
}
