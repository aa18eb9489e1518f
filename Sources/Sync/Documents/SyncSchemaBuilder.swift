import BSON
import MQL
import Schemas

extension SyncSchema {
    /// The classes of collections, and all that devices cannot have.
    ///
    /// A property with a fault is left out, as is a collection without a usable title or primary key.
    public static func make(_ sources: [Source]) -> (schema: SyncSchema, faults: [Fault]) {
        var builder = SyncSchemaBuilder()
        for source in sources { builder.announce(source) }
        for source in sources { builder.add(source) }
        return (SyncSchema(classes: builder.classes), builder.faults)
    }
}

/// Makes classes of schemas.
struct SyncSchemaBuilder {
    /// How long the client's storage lets a name of a class be, in bytes.
    static let classNameLimit = 57
    /// How long the client's storage lets a name of a property be, in bytes.
    static let propertyNameLimit = 63

    var classes: [SyncClass] = []
    private(set) var faults: [SyncSchema.Fault] = []
    /// What links may lead to.
    var targets: [Namespace: (name: ByteText, key: SyncType, isAsymmetric: Bool)] = [:]
    var topLevelNames: [ByteText: Namespace] = [:]
    var embedded: [ByteText: SyncClass] = [:]

    /// Where a property stands.
    struct Place {
        var source: SyncSchema.Source
        var owner: ByteText
        /// As relationships write it: `pets.[].toy`.
        var path: String

        func below(_ name: String, owner: ByteText) -> Place {
            Place(source: source, owner: owner, path: path.isEmpty ? name : "\(path).\(name)")
        }
    }

    mutating func fault(_ place: Place, _ message: String) {
        faults.append(
            SyncSchema.Fault(
                namespace: place.source.namespace,
                field: place.path.isEmpty ? nil : place.path,
                message: message
            )
        )
    }

    /// Notes name and key of a collection's class, so that links can lead to it.
    mutating func announce(_ source: SyncSchema.Source) {
        guard let title = source.schema.title else { return }
        let name = ByteText(title)
        let place = Place(source: source, owner: name, path: "")
        guard !title.isEmpty, title.utf8.count <= Self.classNameLimit else {
            return fault(place, "the title must have 1 to \(Self.classNameLimit) bytes")
        }
        if let other = topLevelNames[name] {
            return fault(place, "the title \(quoted(name)) is also that of \(other.name)")
        }
        guard let node = source.schema.root.property("_id") else {
            return fault(place, "the schema has no property \"_id\"")
        }
        guard let key = keyType(node) else {
            return fault(
                place.below("_id", owner: name),
                "a primary key is a string, int, long, objectId or uuid"
            )
        }
        topLevelNames[name] = source.namespace
        targets[source.namespace] = (name, key, source.isAsymmetric)
    }

    private func keyType(_ node: SchemaNode) -> SyncType? {
        switch onlyType(node) {
        case .string: .string
        case .int: .int
        case .long: .long
        case .objectId: .objectID
        case .uuid: .uuid
        default: nil
        }
    }

    /// The one type beside null.
    func onlyType(_ node: SchemaNode) -> SchemaType? {
        let types = (node.types ?? []).filter { $0 != .null }
        return types.count == 1 ? types[0] : nil
    }

    /// Makes the class of a collection that was announced, and those embedded in it.
    mutating func add(_ source: SyncSchema.Source) {
        guard let target = targets[source.namespace], topLevelNames[target.name] == source.namespace else {
            return
        }
        let column = Instruction.KeyColumn(
            field: ByteText("_id"),
            type: target.key.kind,
            isNullable: !source.schema.required.contains("_id")
        )
        let place = Place(source: source, owner: target.name, path: "")
        var properties: [SyncProperty] = []
        for property in source.schema.properties where property.name != "_id" {
            if let made = self.property(property, required: source.schema.required, place) {
                properties.append(made)
            }
        }
        classes.append(
            SyncClass(
                name: target.name,
                kind: source.isAsymmetric ? .asymmetric(column) : .topLevel(column),
                namespace: source.namespace,
                keyType: target.key,
                properties: properties
            )
        )
    }

    mutating func property(
        _ property: SchemaNode.Property,
        required: [String],
        _ outer: Place
    ) -> SyncProperty? {
        let place = outer.below(property.name, owner: outer.owner)
        let node = property.node
        let name = ByteText(property.name)
        guard !property.name.isEmpty, property.name.utf8.count <= Self.propertyNameLimit else {
            fault(place, "the name of a property must have 1 to \(Self.propertyNameLimit) bytes")
            return nil
        }
        if node.types == [.linkingObjects] { return nil }
        let isOptional = !required.contains(property.name) || (node.types ?? []).contains(.null)
        let hasFields = !node.properties.isEmpty || node.title != nil
        if onlyType(node) == .array {
            guard case .all(let items) = node.items else {
                fault(place, "an array needs 'items' with one schema")
                return nil
            }
            let collection = node.uniqueItems ? CollectionKind.set : .list
            guard let type = element(items, place, field: property.name, below: "[]") else { return nil }
            if collection == .set, case .embedded = type {
                fault(place, "a set cannot hold embedded objects")
                return nil
            }
            return SyncProperty(
                name: name,
                type: type,
                isNullable: (items.types ?? []).contains(.null),
                collection: collection,
                defaultValue: node.defaultValue
            )
        }
        if isObject(node), !hasFields, case .schema(let values) = node.additionalProperties {
            guard let type = element(values, place, field: property.name, below: "[]") else { return nil }
            return SyncProperty(
                name: name,
                type: type,
                isNullable: (values.types ?? []).contains(.null),
                collection: .dictionary,
                defaultValue: node.defaultValue
            )
        }
        guard let type = element(node, place, field: property.name, below: nil) else { return nil }
        if relationship(place)?.isList == true {
            fault(place, "the relationship has 'is_list', but the property is no array")
            return nil
        }
        return SyncProperty(
            name: name,
            type: type,
            isNullable: isOptional,
            defaultValue: node.defaultValue,
            keepsNull: node.types.map { $0.contains { $0.accepts(.null) } } ?? true
        )
    }

    func isObject(_ node: SchemaNode) -> Bool {
        onlyType(node) == .object
            || node.types == nil
                && (!node.properties.isEmpty
                    || { if case .schema = node.additionalProperties { true } else { false } }())
    }

    func relationship(_ place: Place) -> Relationship? {
        place.source.relationships.first { TextOrder.equal($0.path, place.path) }
    }
}
