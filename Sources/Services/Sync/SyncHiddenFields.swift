import BSON
import MQL
import Rules
import Sync

// Roles that hide fields from devices: a hidden field counts as absent, whatever a query asks of it.
//
// Source: `rules.md` §§5, 9.
extension Filter {
    /// The same filter where some top-level fields are in no document.
    func lacking(_ hidden: Set<String>) -> Filter {
        switch self {
        case .all, .nothing, .expression, .schema, .text: return self
        case .and(let members): return .and(members.map { $0.lacking(hidden) })
        case .or(let members): return .or(members.map { $0.lacking(hidden) })
        case .nor(let members): return .nor(members.map { $0.lacking(hidden) })
        case .field(let path, _):
            guard let field = path.components.first, hidden.contains(field) else { return self }
            let context = EvaluationContext(now: 0, meter: EvaluationMeter(limit: .max))
            return (try? matches([:], context)) == true ? .all : .nothing
        }
    }
}

extension SyncView.Permission {
    /// The class's fields that its user does not see.
    var hiddenFields: Set<String> {
        guard let plan = plan?.plan, plan.hidesFields else { return [] }
        return Set(mapping.type.properties.map(\.name.text).filter { !plan.shows($0) })
    }
}

extension SyncView {
    /// What queries ask for as the user sees the documents.
    func seeing(_ filters: [ByteText: Filter]) -> [ByteText: Filter] {
        var seen = filters
        for (table, filter) in filters {
            let hidden = permissions[table]?.hiddenFields ?? []
            if !hidden.isEmpty { seen[table] = filter.lacking(hidden) }
        }
        return seen
    }
}

extension Role {
    /// The same role for devices, which have no object without its key: it can name all fields but `_id`.
    var showingKeys: Role {
        guard read == nil || write == nil else { return self }
        let entries = fields.entries + [fields.additional].compactMap(\.self)
        let mayWrite = entries.contains(where: \.maySomewhereWrite)
        let key = FieldPermissions.Entry(name: "_id", read: .constant(true), write: .constant(mayWrite))
        return Role(
            name: name,
            applyWhen: applyWhen,
            documentFilters: documentFilters,
            read: read,
            write: write,
            insert: insert,
            delete: delete,
            search: search,
            fields: FieldPermissions(entries: fields.entries + [key], additional: fields.additional)
        )
    }
}

extension FieldPermissions.Entry {
    fileprivate var maySomewhereWrite: Bool {
        write?.literal == true || fields.contains(where: \.maySomewhereWrite)
    }
}
