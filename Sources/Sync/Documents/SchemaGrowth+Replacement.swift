import BSON

// What breaks: properties and primary keys that a device has otherwise than the app.
extension SchemaGrowth {
    /// Takes note of what contradicts the schema.
    ///
    /// A class that is embedded on one side only stays a contradiction: its objects are stored elsewhere.
    mutating func replace(_ instructions: [Instruction]) {
        for instruction in instructions {
            switch instruction {
            case .addTable(let name, .topLevel(let key)):
                if case .topLevel(let known)? = schema[name]?.kind, known != key { keys[name] = key }
            case .addColumn(let column):
                guard let known = schema[column.table]?.property(column.field)?.column(in: column.table),
                    !known.isSame(as: column)
                else { continue }
                replaced[column.table, default: []].append(column)
            default: break
            }
        }
        if keys.isEmpty { return }
        // Links are stored as the keys of what they lead to.
        for type in schema.classes {
            for property in type.properties where property.type.target.map({ keys[$0] != nil }) ?? false {
                let isKnown = replaced[type.name]?.contains { $0.field == property.name } ?? false
                if !isKnown { replaced[type.name, default: []].append(property.column(in: type.name)) }
            }
        }
    }

    /// Gives a collection another primary key; its documents are synced again once they have it.
    func replace(_ key: Instruction.KeyColumn, in node: inout BSONDocument, of name: ByteText)
        throws(SyncFault)
    {
        guard TextOrder.equal(key.field.text, "_id"), let type = Self.typeName(key.type) else {
            throw Self.fault("the primary key of class \(quoted(name)) is not a usable \"_id\"")
        }
        var properties = node["properties"]?.document ?? [:]
        properties["_id"] = ["bsonType": .string(type)]
        node["properties"] = .document(properties)
        Self.require("_id", !key.isNullable, in: &node)
    }

    /// Gives a node another property in the place of one.
    ///
    /// Of one that only may, or may not, be null any more, the rest of what its schema says stays.
    func replace(
        _ column: Instruction.Column,
        in node: inout BSONDocument,
        at path: String,
        _ relationships: inout BSONDocument,
        depth: Int
    ) throws(SyncFault) {
        let name = column.field.text
        let here = Self.join(path, name, isInside: false)
        var properties = node["properties"]?.document ?? [:]
        var before = schema[column.table]?.property(column.field)?.column(in: column.table)
        before?.isNullable = column.isNullable
        if before?.isSame(as: column) == true, column.collection == .single, column.type != .link,
            var known = properties[name]?.document, let types = known["bsonType"]
        {
            let others = (types.array ?? [types]).filter { $0 != "null" }
            if !column.isNullable { known["bsonType"] = others.count == 1 ? others[0] : .array(others) }
            properties[name] = .document(known)
        } else {
            let inside = "\(here)."
            relationships = BSONDocument(
                relationships.filter { !TextOrder.equal($0.key, here) && !$0.key.hasPrefix(inside) }
            )
            properties[name] = try .document(property(column, at: path, &relationships, depth: depth))
        }
        node["properties"] = .document(properties)
        Self.require(name, column.collection == .single && !column.isNullable, in: &node)
    }

    private static func require(_ name: String, _ isRequired: Bool, in node: inout BSONDocument) {
        var required = (node["required"]?.array ?? []).filter { $0 != .string(name) }
        if isRequired { required.append(.string(name)) }
        // An empty list is none.
        node["required"] = required.isEmpty ? nil : .array(required)
    }
}

extension Instruction.Column {
    /// Whether it is the same to a device: a float has no type in the store, and is a double there.
    func isSame(as other: Instruction.Column) -> Bool {
        var comparable = other
        if other.type == .float, type == .double { comparable.type = .double }
        if other.type == .double, type == .float { comparable.type = .float }
        return self == comparable
    }
}
