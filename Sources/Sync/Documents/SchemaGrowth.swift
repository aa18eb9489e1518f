public import BSON
public import MQL

/// What a device does to an app's schema in development mode: it adds classes, and properties of classes.
///
/// A device that was told no classes yet may replace properties and primary keys, too: that breaks with all devices that
/// were. From others it only adds: what stands in the schema stays as it is, and a change that contradicts it is refused
/// elsewhere. Source: `sync-semantics.md` §§13.2, 14.
public struct SchemaGrowth: Sendable {
    /// One collection whose files have grown.
    public struct Grown: Sendable {
        /// Where the objects of the class are.
        public let namespace: Namespace
        /// `schema.json`.
        public var schema: BSONDocument
        /// `relationships.json`.
        public var relationships: BSONDocument
        /// Whether devices only write it.
        public let isAsymmetric: Bool
    }

    let schema: SyncSchema
    private let place: (dataSource: String, database: String)
    /// The classes that come, in their order.
    private var tables: [(name: ByteText, kind: Instruction.TableKind)] = []
    /// The properties that come, by class, in their order.
    private var columns: [ByteText: [Instruction.Column]] = [:]
    /// The properties that become others, by class.
    var replaced: [ByteText: [Instruction.Column]] = [:]
    /// The primary keys that become others, by class.
    var keys: [ByteText: Instruction.KeyColumn] = [:]

    /// How deep embedded classes may stand in one another.
    private static let depthLimit = 20

    /// Of the changes of a device, those that do something.
    ///
    /// - Parameters:
    ///   - instructions: What the device says of its classes.
    ///   - schema: What the app has.
    ///   - replacing: Whether what contradicts the schema replaces it.
    ///   - dataSource: Where new classes are stored.
    ///   - database: Likewise.
    public init(
        _ instructions: [Instruction],
        to schema: SyncSchema,
        replacing: Bool = false,
        dataSource: String,
        database: String
    ) {
        self.schema = schema
        place = (dataSource, database)
        for instruction in instructions {
            switch instruction {
            case .addTable(let name, let kind):
                if schema[name] == nil, !tables.contains(where: { $0.name == name }) {
                    tables.append((name, kind))
                }
            case .addColumn(let column):
                let isKnown =
                    schema[column.table]?.property(column.field) != nil
                    || keyColumn(of: column.table)?.field == column.field
                    || columns[column.table]?.contains { $0.field == column.field } == true
                if !isKnown { columns[column.table, default: []].append(column) }
            default: break
            }
        }
        if replacing { replace(instructions) }
    }

    /// Whether nothing is added or replaced.
    public var isEmpty: Bool { tables.isEmpty && columns.isEmpty && !isBreaking }

    /// Whether it contradicts what other devices were told.
    public var isBreaking: Bool { !replaced.isEmpty || !keys.isEmpty }

    /// The collections that grow, by the files that they have now.
    ///
    /// - Parameter files: Schema and relationships of a collection; nil where it has none.
    /// - Returns: Them as they are to be.
    /// - Throws: ``SyncFault`` with `invalidSchemaChange` for what no schema can say.
    public func grown(
        _ files: (Namespace) -> (schema: BSONDocument, relationships: BSONDocument)?
    ) throws(SyncFault) -> [Grown] {
        var grown: [Grown] = []
        for (name, kind) in tables {
            guard let key = key(of: kind) else { continue }
            guard TextOrder.equal(key.field.text, "_id"), let type = Self.typeName(key.type) else {
                throw Self.fault("the primary key of class \(quoted(name)) is not a usable \"_id\"")
            }
            let isAsymmetric = if case .asymmetric = kind { true } else { false }
            let namespace = Namespace(
                dataSource: place.dataSource,
                database: place.database,
                collection: name.text
            )
            // A schema without a title, if there is one, is the beginning of this one.
            let known = files(namespace)
            var one = Grown(
                namespace: namespace,
                schema: known?.schema ?? [:],
                relationships: known?.relationships ?? [:],
                isAsymmetric: isAsymmetric
            )
            one.schema["title"] = .string(name.text)
            one.schema["bsonType"] = "object"
            var properties = one.schema["properties"]?.document ?? [:]
            if properties["_id"] == nil { properties["_id"] = ["bsonType": .string(type)] }
            one.schema["properties"] = .document(properties)
            let required = one.schema["required"]?.array ?? []
            if !key.isNullable, !required.contains("_id") {
                one.schema["required"] = .array(["_id"] + required)
            }
            try add(columns[name] ?? [], to: &one.schema, at: "", &one.relationships, depth: 0)
            grown.append(one)
        }
        for type in schema.classes {
            guard let namespace = type.namespace, let known = files(namespace) else { continue }
            var one = Grown(
                namespace: namespace,
                schema: known.schema,
                relationships: known.relationships,
                isAsymmetric: type.isAsymmetric
            )
            if let key = keys[type.name] { try replace(key, in: &one.schema, of: type.name) }
            try grow(&one.schema, of: type.name, at: "", &one.relationships, depth: 0)
            if one.schema != known.schema || one.relationships != known.relationships { grown.append(one) }
        }
        return grown
    }

    static func fault(_ message: String) -> SyncFault { SyncFault(.invalidSchemaChange, message) }

    private func key(of kind: Instruction.TableKind) -> Instruction.KeyColumn? {
        switch kind {
        case .topLevel(let key), .asymmetric(let key): key
        case .embedded: nil
        }
    }

    private func keyColumn(of name: ByteText) -> Instruction.KeyColumn? {
        keys[name] ?? schema[name]?.keyColumn ?? tables.first { $0.name == name }.flatMap { key(of: $0.kind) }
    }

    // MARK: Files

    /// Adds to the class that a node is, and to those embedded in it.
    private func grow(
        _ node: inout BSONDocument,
        of name: ByteText,
        at path: String,
        _ relationships: inout BSONDocument,
        depth: Int
    ) throws(SyncFault) {
        guard depth < Self.depthLimit, var properties = node["properties"]?.document else { return }
        for property in schema[name]?.properties ?? [] {
            guard case .embedded(let inner) = property.type,
                var outer = properties[property.name.text]?.document
            else { continue }
            let wrapper: String? =
                switch property.collection {
                case .single: nil
                case .list, .set: "items"
                case .dictionary: "additionalProperties"
                }
            let here = Self.join(path, property.name.text, isInside: wrapper != nil)
            if let wrapper, var element = outer[wrapper]?.document {
                try grow(&element, of: inner, at: here, &relationships, depth: depth + 1)
                outer[wrapper] = .document(element)
            } else if wrapper == nil {
                try grow(&outer, of: inner, at: here, &relationships, depth: depth + 1)
            }
            properties[property.name.text] = .document(outer)
        }
        node["properties"] = .document(properties)
        for column in replaced[name] ?? [] {
            try replace(column, in: &node, at: path, &relationships, depth: depth)
        }
        try add(columns[name] ?? [], to: &node, at: path, &relationships, depth: depth)
    }

    static func join(_ path: String, _ name: String, isInside: Bool) -> String {
        (path.isEmpty ? name : "\(path).\(name)") + (isInside ? ".[]" : "")
    }

    /// Adds properties that a node does not have.
    private func add(
        _ columns: [Instruction.Column],
        to node: inout BSONDocument,
        at path: String,
        _ relationships: inout BSONDocument,
        depth: Int
    ) throws(SyncFault) {
        guard depth < Self.depthLimit else {
            throw Self.fault("embedded classes stand in one another without end")
        }
        var properties = node["properties"]?.document ?? [:]
        var required = node["required"]?.array ?? []
        for column in columns where properties[column.field.text] == nil {
            let name = column.field.text
            properties[name] = try .document(property(column, at: path, &relationships, depth: depth))
            if column.collection == .single, !column.isNullable { required.append(.string(name)) }
        }
        node["properties"] = .document(properties)
        if !required.isEmpty { node["required"] = .array(required) }
    }

    func property(
        _ column: Instruction.Column,
        at path: String,
        _ relationships: inout BSONDocument,
        depth: Int
    ) throws(SyncFault) -> BSONDocument {
        var element = try element(column, at: path, &relationships, depth: depth)
        if column.collection == .single { return element }
        // Links and objects in collections have no nulls of their own.
        if column.isNullable, column.type != .link, column.type != .null, let type = element["bsonType"] {
            element["bsonType"] = .array([type, "null"])
        }
        switch column.collection {
        case .list: return ["bsonType": "array", "items": .document(element)]
        case .set: return ["bsonType": "array", "uniqueItems": true, "items": .document(element)]
        case .dictionary, .single: return ["bsonType": "object", "additionalProperties": .document(element)]
        }
    }

    private func element(
        _ column: Instruction.Column,
        at path: String,
        _ relationships: inout BSONDocument,
        depth: Int
    ) throws(SyncFault) -> BSONDocument {
        guard column.type == .link else {
            guard let type = Self.typeName(column.type) else {
                throw Self.fault("property \(quoted(column.field)) is of a type that no schema has")
            }
            // An embedded class is the same wherever it stands.
            let isShort = schema[column.table]?.property(column.field)?.type == .int && column.type == .int
            return ["bsonType": .string(isShort ? "int" : type)]
        }
        let target = column.target ?? ByteText("")
        let isCollection = column.collection != .single
        guard let key = keyColumn(of: target) else {
            let inner = Self.join(path, column.field.text, isInside: isCollection)
            return try embedded(target, at: inner, &relationships, depth: depth + 1)
        }
        guard let type = Self.typeName(key.type) else {
            throw Self.fault("class \(quoted(target)) has no usable primary key")
        }
        let namespace =
            schema[target]?.namespace
            ?? Namespace(dataSource: place.dataSource, database: place.database, collection: target.text)
        let parts = [namespace.dataSource, namespace.database, namespace.collection]
        relationships[Self.join(path, column.field.text, isInside: false)] = [
            "ref": .string("#/relationship/" + parts.joined(separator: "/")), "foreign_key": "_id",
            "is_list": .bool(column.collection == .list || column.collection == .set),
        ]
        return ["bsonType": .string(type)]
    }

    /// An embedded class with all that it has and gets.
    private func embedded(
        _ name: ByteText,
        at path: String,
        _ relationships: inout BSONDocument,
        depth: Int
    ) throws(SyncFault) -> BSONDocument {
        let others = replaced[name] ?? []
        let known = (schema[name]?.properties ?? []).map { property in
            others.first { $0.field == property.name } ?? property.column(in: name)
        }
        guard schema[name] != nil || tables.contains(where: { $0.name == name }) else {
            throw Self.fault("there is no class \(quoted(name)) that a property could hold")
        }
        var node: BSONDocument = ["title": .string(name.text), "bsonType": "object", "properties": [:]]
        try add(known + (columns[name] ?? []), to: &node, at: path, &relationships, depth: depth)
        return node
    }

    /// The name of a type in schemas; nil for what is not the type of a property.
    static func typeName(_ kind: Payload.Kind) -> String? {
        switch kind {
        case .null: "mixed"
        case .int: "long"
        case .bool: "bool"
        case .string: "string"
        case .binary: "binData"
        case .timestamp: "date"
        case .float, .double: "double"
        case .decimal: "decimal"
        case .objectID: "objectId"
        case .uuid: "uuid"
        case .link, .objectValue, .dictionary, .erased, .list, .set: nil
        }
    }
}
