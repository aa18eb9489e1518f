import BSON
import MQL
import Rules
import Sync

/// What a document must be like to concern a device, as far as it can be looked up.
struct SyncInterest: Sendable {
    /// Of one class.
    enum Test: Sendable {
        /// Any of its documents may concern the device.
        case any
        /// Only those in which the field has one of the values, by itself or in an array.
        case equal(field: String, values: [BSONValue])
    }

    let classes: [ByteText: Test]

    /// Of a view, by its subscriptions and its user's role, whatever the classes are called at other versions.
    init(_ view: SyncView, _ names: SyncClassNames) {
        var conditions: [ByteText: [Filter]] = [:]
        for (table, filter) in view.filters {
            guard let plan = view.permissions[table]?.plan?.plan else { continue }
            for name in names.all(table) {
                conditions[name] = [filter, plan.readFilter, plan.queryFilter]
            }
        }
        self.init(conditions)
    }

    /// Of conditions by class, which a document must satisfy all.
    init(_ conditions: [ByteText: [Filter]]) {
        classes = conditions.mapValues { Self.equality(.and($0)) ?? .any }
    }

    /// An equality that every document of a filter satisfies.
    private static func equality(_ filter: Filter) -> Test? {
        switch filter {
        case .nothing: .equal(field: "_id", values: [])
        case .and(let all): all.lazy.compactMap(equality).first
        case .or(let any): alternatives(any)
        case .field(let path, let test) where path.components.count == 1: equality(path.root, test)
        default: nil
        }
    }

    private static func equality(_ field: String, _ test: FieldTest) -> Test? {
        switch test {
        case .compare(.equal, let value): key(value).map { .equal(field: field, values: [$0]) }
        case .inside(let members):
            members.reduce([] as [BSONValue]?) { values, member in
                guard case .value(let value) = member, let key = key(value) else { return nil }
                return values.map { $0 + [key] }
            }.map { .equal(field: field, values: $0) }
        default: nil
        }
    }

    /// Alternatives about one field are one equality.
    private static func alternatives(_ filters: [Filter]) -> Test? {
        var name: String?
        var all: [BSONValue] = []
        for filter in filters {
            guard case .equal(let field, let values)? = equality(filter),
                name.map({ TextOrder.equal($0, field) }) ?? true
            else { return nil }
            name = field
            all += values
        }
        return name.map { .equal(field: $0, values: all) }
    }

    /// A value that equals nothing of another type; numbers do, and null equals what is missing.
    static func key(_ value: BSONValue) -> BSONValue? {
        switch value {
        case .string, .objectID, .bool, .date, .binary: value
        case .symbol(let text): .string(text)
        default: nil
        }
    }
}

/// Finds those whom a document concerns, without asking each.
struct SyncInterests {
    private struct Members {
        var any: Set<UInt64> = []
        var byField: [ByteText: [BSONValue: Set<UInt64>]] = [:]
    }

    private var classes: [ByteText: Members] = [:]

    mutating func insert(_ interest: SyncInterest, of id: UInt64) {
        for (table, test) in interest.classes {
            switch test {
            case .any: classes[table, default: Members()].any.insert(id)
            case .equal(let field, let values):
                for value in values {
                    classes[table, default: Members()].byField[ByteText(field), default: [:]][
                        value,
                        default: []
                    ]
                    .insert(id)
                }
            }
        }
    }

    mutating func remove(_ interest: SyncInterest, of id: UInt64) {
        for (table, test) in interest.classes {
            switch test {
            case .any: classes[table]?.any.remove(id)
            case .equal(let field, let values):
                for value in values {
                    classes[table]?.byField[ByteText(field)]?[value]?.remove(id)
                    if classes[table]?.byField[ByteText(field)]?[value]?.isEmpty == true {
                        classes[table]?.byField[ByteText(field)]?[value] = nil
                    }
                }
                if classes[table]?.byField[ByteText(field)]?.isEmpty == true {
                    classes[table]?.byField[ByteText(field)] = nil
                }
            }
        }
    }

    /// Adds those whom a change of one document concerns.
    func collect(_ object: SyncHistoryEntry.Object, into found: inout Set<UInt64>) {
        guard let members = classes[object.address.table] else { return }
        found.formUnion(members.any)
        for (field, byValue) in members.byField {
            for image in [object.before, object.after] {
                guard let value = image?[field.text] else { continue }
                for candidate in value.array ?? [value] {
                    guard let key = SyncInterest.key(candidate), let ids = byValue[key] else { continue }
                    found.formUnion(ids)
                }
            }
        }
    }
}
