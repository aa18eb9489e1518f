extension Role {
    /// The functions that its expressions ask, with repetitions.
    var functionNames: [String] {
        let own = [
            applyWhen, documentFilters?.read, documentFilters?.write, read, write, insert, delete, search,
        ]
        return own.compactMap { $0 }.flatMap(\.functionNames) + fields.entries.flatMap(\.functionNames)
            + (fields.additional?.functionNames ?? [])
    }
}

extension FieldPermissions.Entry {
    var functionNames: [String] {
        [read, write].compactMap { $0 }.flatMap(\.functionNames) + fields.flatMap(\.functionNames)
    }
}

extension RuleFilter {
    var functionNames: [String] { applyWhen.functionNames + query.functionNames }
}
