import Schemas

/// What a role does otherwise than its author may think; warnings, no errors.
///
/// Source: `rules.md` §2 (precedence), §17 D1 and D4.
enum RoleAdvice {
    static func warnings(_ role: Role, _ path: String) -> [RuleFault] {
        missingHalves(role, path) + deadFields(role, path)
    }

    /// D1: half a gate denies its other half.
    private static func missingHalves(_ role: Role, _ path: String) -> [RuleFault] {
        guard let filters = role.documentFilters else { return [] }
        var result: [RuleFault] = []
        for (key, half) in [("read", filters.read), ("write", filters.write)] where half == nil {
            result.append(
                RuleFault(
                    .warning,
                    at: path + ".document_filters",
                    "role \(role.name): document_filters.\(key) is missing, so it denies"
                )
            )
        }
        return result
    }

    /// Field permissions below a permission of the whole document (precedence rule 1, D4).
    private static func deadFields(_ role: Role, _ path: String) -> [RuleFault] {
        var result: [RuleFault] = []
        var named = role.fields.entries.map { (entry: $0, path: jsonPath(path + ".fields", $0.name)) }
        if let additional = role.fields.additional { named.append((additional, path + ".additional_fields")) }
        for (entry, here) in named {
            if role.write != nil, mentionsWrite(entry) {
                result.append(
                    role.write?.literal == false && grantsWrite(entry)
                        ? RuleFault(
                            .warning,
                            at: here,
                            "write has no effect because the role has \"write\": false; remove it to let the field permission decide"
                        )
                        : RuleFault(
                            .warning,
                            at: here,
                            "field permission has no effect because the role has a document-level permission (write)"
                        )
                )
            }
            if role.read != nil, mentionsRead(entry) {
                result.append(
                    RuleFault(
                        .warning,
                        at: here,
                        "field permission has no effect because the role has a document-level permission (read)"
                    )
                )
            }
        }
        return result
    }

    private static func mentionsWrite(_ entry: FieldPermissions.Entry) -> Bool {
        entry.write != nil || entry.fields.contains(where: mentionsWrite)
    }

    private static func grantsWrite(_ entry: FieldPermissions.Entry) -> Bool {
        entry.write.map { $0.literal != false } ?? entry.fields.contains(where: grantsWrite)
    }

    private static func mentionsRead(_ entry: FieldPermissions.Entry) -> Bool {
        entry.read != nil || entry.fields.contains(where: mentionsRead)
    }
}
