/// Why a role cannot serve Device Sync.
///
/// A role that is applied and not compatible gives no access for its collection in that session.
/// Source: `rules.md` §9.1.
public enum SyncCompatibility {
    /// Everything that stands against a role; empty for a compatible one.
    ///
    /// `_id` counts as a queryable field whether it is listed or not.
    public static func obstacles(_ role: Role, queryableFields: Set<String>) -> [String] {
        var found: [String] = []
        let filters = [
            ("document_filters.read", role.documentFilters?.read),
            ("document_filters.write", role.documentFilters?.write),
        ]
        for (name, filter) in filters where filter == nil { found.append("\(name) is not defined") }
        for (name, expression) in filters + [("insert", role.insert), ("delete", role.delete)] {
            guard let expression else { continue }
            found += obstacles(name, expression, queryableFields)
        }
        for (name, expression) in [("read", role.read), ("write", role.write)] {
            if let expression, expression.literal == nil { found.append("\(name) is not a boolean") }
        }
        for entry in role.fields.entries {
            if entry.name == "_id" { found.append("a field permission is given for _id") }
            found += literals("fields.\(entry.name)", entry)
        }
        if let additional = role.fields.additional { found += literals("additional_fields", additional) }
        return found
    }

    private static func obstacles(
        _ name: String,
        _ expression: RuleExpression,
        _ queryable: Set<String>
    ) -> [String] {
        let functions = expression.functionNames.map { "\(name) asks the function '\($0)'" }
        return functions
            + expression.expansions.compactMap { expansion in
                switch expansion {
                case .constant, .user, .values, .environmentTag, .environmentValues: nil
                case .request, .partition: "\(name) uses \(expansion.text)"
                case .image(let reference):
                    if reference.image != .root || reference.path.isEmpty {
                        "\(name) uses \(expansion.text)"
                    } else if reference.path[0] == "_id"
                        || queryable.contains(reference.path.joined(separator: "."))
                    {
                        nil
                    } else {
                        "\(name) uses the field \(reference.path.joined(separator: ".")), which is not queryable"
                    }
                }
            }
    }

    private static func literals(_ name: String, _ entry: FieldPermissions.Entry) -> [String] {
        let own = [("read", entry.read), ("write", entry.write)].compactMap { key, expression in
            expression.map { $0.literal == nil } == true ? "\(name).\(key) is not a boolean" : nil
        }
        return own + entry.fields.flatMap { literals("\(name).fields.\($0.name)", $0) }
    }
}
