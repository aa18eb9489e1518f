import BSON
import MQL
import Schemas

extension SyncSchemaBuilder {
    /// The type of one value: that of a property, or of the elements of one.
    mutating func element(
        _ node: SchemaNode,
        _ place: Place,
        field: String,
        below step: String?
    ) -> SyncType? {
        if isObject(node) {
            let inner = step.map { place.below($0, owner: place.owner) } ?? place
            return embeddedClass(node, inner, field: field).map { .embedded($0) }
        }
        guard let type = onlyType(node) else {
            fault(place, node.types == nil ? "needs a 'bsonType'" : "devices have one type for a property")
            return nil
        }
        let scalar: SyncType
        switch type {
        case .double: scalar = .double
        case .string: scalar = .string
        case .binData: scalar = .binary
        case .objectId: scalar = .objectID
        case .bool: scalar = .bool
        case .date: scalar = .date
        case .int: scalar = .int
        case .long: scalar = .long
        case .decimal: scalar = .decimal
        case .uuid: scalar = .uuid
        case .mixed: scalar = .mixed
        case .array:
            fault(place, "arrays stand in arrays or dictionaries in a mixed property only")
            return nil
        case .object, .undefined, .null, .regex, .javascript, .symbol, .timestamp, .minKey, .maxKey, .number,
            .linkingObjects:
            fault(place, "devices have no type '\(type.rawValue)'")
            return nil
        }
        guard let relationship = relationship(place) else { return scalar }
        return link(relationship, scalar, place)
    }

    private mutating func link(_ relationship: Relationship, _ type: SyncType, _ place: Place) -> SyncType? {
        let other = Namespace(
            dataSource: relationship.dataSource,
            database: relationship.database,
            collection: relationship.collection
        )
        guard relationship.foreignKey == "_id" else {
            fault(place, "a link of a device leads to '_id', not to '\(relationship.foreignKey)'")
            return nil
        }
        guard let target = targets[other] else {
            fault(place, "the relationship leads to \(other.name), which does not sync")
            return nil
        }
        guard !target.isAsymmetric else {
            fault(place, "the relationship leads to \(other.name), which devices cannot read")
            return nil
        }
        guard target.key.kind == type.kind else {
            fault(place, "is of another type than the '_id' of \(other.name)")
            return nil
        }
        return .link(target.name)
    }

    private mutating func embeddedClass(_ node: SchemaNode, _ place: Place, field: String) -> ByteText? {
        guard !node.properties.isEmpty || node.title != nil else {
            fault(place, "an object needs 'properties', or a schema in 'additionalProperties'")
            return nil
        }
        let name = ByteText(node.title ?? "\(place.owner.text)_\(field)")
        guard !name.text.isEmpty, name.text.utf8.count <= Self.classNameLimit else {
            fault(
                place,
                "the name \(quoted(name)) of the embedded class must have 1 to \(Self.classNameLimit) bytes"
            )
            return nil
        }
        if let other = topLevelNames[name] {
            fault(place, "the title \(quoted(name)) is also that of \(other.name)")
            return nil
        }
        var properties: [SyncProperty] = []
        for property in node.properties {
            let here = Place(source: place.source, owner: name, path: place.path)
            if let made = self.property(property, required: node.required, here) { properties.append(made) }
        }
        let made = SyncClass(
            name: name,
            kind: .embedded,
            namespace: nil,
            keyType: nil,
            properties: properties
        )
        if let known = embedded[name] {
            guard known == made else {
                fault(place, "the embedded class \(quoted(name)) has other properties elsewhere")
                return nil
            }
            return name
        }
        embedded[name] = made
        classes.append(made)
        return name
    }
}
