import Rules

/// Whether a role gives access under Device Sync; one that does not still serves ordinary requests.
///
/// Source: `reference/rules.md` §9.1.
enum SyncCompatibility {
    /// Why a role gives no access, empty when it does.
    ///
    /// - Parameter queryable: The queryable fields of the collection, `_id` included.
    static func faults(of role: Role, queryable: Set<String>) -> [String] {
        var faults: [String] = []
        let gates = [
            ("document_filters.read", role.documentFilters?.read),
            ("document_filters.write", role.documentFilters?.write),
        ]
        for (name, gate) in gates where gate == nil { faults.append("\(name) is missing") }
        for (name, expression) in gates + [("insert", role.insert), ("delete", role.delete)] {
            guard let expression, let reason = reason(expression, queryable) else { continue }
            faults.append("\(name) \(reason)")
        }
        for (name, expression) in [("read", role.read), ("write", role.write)] {
            if let expression, expression.literal == nil { faults.append("\(name) is no boolean") }
        }
        for entry in role.fields.entries {
            if entry.name == "_id" { faults.append("there is a permission for _id") }
            if !isLiteral(entry) { faults.append("the permission of '\(entry.name)' is no boolean") }
        }
        if let rest = role.fields.additional, !isLiteral(rest) {
            faults.append("additional_fields is no boolean")
        }
        return faults
    }

    private static func isLiteral(_ entry: FieldPermissions.Entry) -> Bool {
        (entry.read.map { $0.literal != nil } ?? true) && (entry.write.map { $0.literal != nil } ?? true)
            && entry.fields.allSatisfy(isLiteral)
    }

    private static func reason(_ expression: RuleExpression, _ queryable: Set<String>) -> String? {
        for expansion in expression.expansions {
            switch expansion {
            case .constant, .user, .values, .environmentTag, .environmentValues: continue
            case .request: return "uses %%request"
            case .image(let reference):
                // A bare field name reads the same as %%root.<field>.
                guard reference.image == .root, let field = reference.path.first else {
                    return "uses %%\(reference.image.rawValue)"
                }
                if !queryable.contains(reference.path.joined(separator: ".")), !queryable.contains(field) {
                    return "uses '\(field)', which is no queryable field"
                }
            }
        }
        return nil
    }
}
