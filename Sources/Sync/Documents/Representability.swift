import BSON

/// Looks for what keeps a document from being an object of its class.
struct Representability {
    let schema: SyncSchema

    /// The first reason, with the place; nil when the fields fit.
    func reason(_ document: BSONDocument, _ type: SyncClass, at prefix: String) -> String? {
        for property in type.properties {
            let place = prefix + property.name.text
            let value = document[property.name.text] ?? property.defaultValue
            if let reason = reason(value, property, at: place) { return reason }
        }
        return nil
    }

    private func reason(_ value: BSONValue?, _ property: SyncProperty, at place: String) -> String? {
        guard let value, !value.isNull else {
            // An absent collection is an empty one.
            if property.collection != .single || property.isNullable { return nil }
            return "the required field \"\(place)\" is missing"
        }
        let type = property.type
        switch (property.collection, value) {
        case (.single, _): return one(value, type, isNullable: property.isNullable, at: place)
        case (.list, .array(let elements)):
            return elements.lazy.compactMap {
                one($0, type, isNullable: property.isNullable, at: "\(place).[]")
            }.first
        case (.set, .array(let elements)):
            return elements.lazy.compactMap {
                member($0, type, isNullable: property.isNullable, at: "\(place).[]")
            }.first
        case (.dictionary, .document(let document)):
            return document.lazy.compactMap {
                one($0.value, type, isNullable: property.isNullable, at: "\(place).[]")
            }.first
        case (.dictionary, _): return "the field \"\(place)\" is not a dictionary"
        case (.list, _), (.set, _): return "the field \"\(place)\" is not an array"
        }
    }

    private func member(_ value: BSONValue, _ type: SyncType, isNullable: Bool, at place: String) -> String? {
        switch value {
        case .array: "the field \"\(place)\" is a list in a set"
        case .document where schema.payload(value, as: type) == .dictionary:
            "the field \"\(place)\" is a dictionary in a set"
        default: one(value, type, isNullable: isNullable, at: place)
        }
    }

    private func one(_ value: BSONValue, _ type: SyncType, isNullable: Bool, at place: String) -> String? {
        guard let payload = schema.payload(value, as: type) else {
            return "the field \"\(place)\" is not of type \(type.description)"
        }
        switch (payload, type, value) {
        case (.null, _, _): return isNullable ? nil : "the field \"\(place)\" is null"
        case (.objectValue, .embedded(let name), .document(let document)):
            return schema[name].flatMap { reason(document, $0, at: "\(place).") }
        case (.list, _, .array(let elements)):
            return elements.lazy.compactMap { one($0, .mixed, isNullable: true, at: "\(place).[]") }.first
        case (.dictionary, _, .document(let document)):
            return document.lazy.compactMap { one($0.value, .mixed, isNullable: true, at: "\(place).[]") }
                .first
        default: return nil
        }
    }
}
