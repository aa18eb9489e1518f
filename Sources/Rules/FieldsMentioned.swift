public import BSON
import Schemas

extension CollectionRules {
    /// The fields that roles and filters speak of, in the order of their first mention: columns for
    /// them serve every request.
    public var fieldsMentioned: [FieldPath] {
        var paths: [FieldPath] = []
        var seen: Set<FieldPath> = []
        func add(_ path: [String]) {
            guard !path.isEmpty, path.allSatisfy(isAddressable) else { return }
            let path = FieldPath(components: path)
            if seen.insert(path).inserted { paths.append(path) }
        }
        func add(_ expression: RuleExpression?, below field: [String] = []) {
            for reference in expression?.imageReferences ?? [] {
                switch reference.image {
                case .root, .prevRoot: add(reference.path)
                case .this, .prev: add(field + reference.path)
                }
            }
        }
        func add(_ entry: FieldPermissions.Entry, below field: [String]) {
            add(entry.read, below: field)
            add(entry.write, below: field)
            for nested in entry.fields { add(nested, below: field + [nested.name]) }
        }
        for role in roles {
            add(role.applyWhen)
            add(role.documentFilters?.read)
            add(role.documentFilters?.write)
            for expression in [role.read, role.write, role.insert, role.delete, role.search] {
                add(expression)
            }
            for entry in role.fields.entries { add(entry, below: [entry.name]) }
            if let additional = role.fields.additional {
                // Of which field `%%this` speaks there, nobody knows.
                for reference in [additional.read, additional.write].flatMap({ $0?.imageReferences ?? [] })
                where reference.image == .root || reference.image == .prevRoot {
                    add(reference.path)
                }
            }
        }
        for filter in filters {
            for path in Self.queried(filter.query) { add(path) }
        }
        return paths
    }

    /// The fields that a query names, below `$and`, `$or` and `$nor`, too.
    private static func queried(_ query: RuleOperand) -> [[String]] {
        let members: [RuleOperand.Member]
        switch query {
        case .document(let some): members = some
        case .literal(.document(let document)):
            members = document.map { RuleOperand.Member(key: $0.key, value: .literal($0.value)) }
        case .array(let elements): return elements.flatMap(queried)
        case .literal(.array(let elements)): return elements.flatMap { queried(.literal($0)) }
        case .literal, .expansion, .converted, .function: return []
        }
        return members.flatMap { member -> [[String]] in
            member.key.hasPrefix("$")
                ? (["$and", "$or", "$nor"].contains(member.key) ? queried(member.value) : [])
                : [FieldPath(member.key).components]
        }
    }
}
