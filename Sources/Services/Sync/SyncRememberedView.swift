import BSON
import Crypto
import Errors
import MQL
import Rules
import Sync

/// What a device's user might see when its file was open last, kept with the file.
///
/// A device that is brought from there to another view has both until it acknowledges the second.
struct SyncRememberedView: Equatable {
    /// One class.
    struct Part: Equatable {
        /// Changes with what the role resolves to.
        let role: String
        /// Changes with the class's properties.
        let schema: String
        /// The class's properties, as ``ObjectMapping/propertyNames`` has them; nil of a file that is older than this.
        let fields: Set<String>?
        /// The documents that roles may have let the user see; nil where that cannot be said.
        let seen: [Seen]?
    }

    /// The documents that a role let the user see.
    struct Seen: Equatable {
        let filter: Filter
        /// What of them it did not: queries found nothing in these fields.
        let hidden: Set<String>
    }

    /// By class; of those that serve devices.
    var parts: [ByteText: Part]

    /// That of a device which was told no classes.
    init() { parts = [:] }

    init(_ view: SyncView, _ app: SyncedApp) {
        var parts: [ByteText: Part] = [:]
        let instructions = Dictionary(grouping: app.schema.instructions, by: \.table)
        for type in app.readableClasses {
            guard let permission = view.permissions[type.name] else { continue }
            let schema = app.schema.parts(of: type).flatMap { instructions[$0.name] ?? [] }
                .map { "\($0)" }.joined(separator: "\n")
            parts[type.name] = Part(
                role: Self.digest(permission.plan?.plan.fingerprint ?? ""),
                schema: Self.digest(schema),
                fields: permission.mapping.propertyNames,
                seen: Self.seen(permission)
            )
        }
        self.parts = parts
    }

    private static func seen(_ permission: SyncView.Permission) -> [Seen]? {
        guard let plan = permission.plan?.plan else { return [] }
        guard plan.readFilterIsExact else { return nil }
        let filter = Filter.and([plan.readFilter, plan.queryFilter])
        if SyncFilterText.document(filter) == nil { return nil }
        return [Seen(filter: filter, hidden: permission.hiddenFields)]
    }

    private static func digest(_ text: String) -> String {
        SHA256.hash(data: Array(text.utf8)).prefix(12).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    // MARK: Kept

    /// Read back; nil for what is not one.
    init?(_ value: BSONValue?) {
        guard let document = value?.document else { return nil }
        var parts: [ByteText: Part] = [:]
        for field in document {
            guard let part = field.value.document, let role = part["role"]?.string,
                let schema = part["schema"]?.string
            else { return nil }
            var seen: [Seen]?
            // A file that is older than this has one filter.
            let kept: [BSONDocument]? = part["seen"]?.document.map { [["filter": .document($0)]] }
            if let roles = kept ?? part["seen"]?.array?.compactMap(\.document) {
                seen = []
                for role in roles {
                    guard let text = role["filter"]?.document, let filter = try? FilterParser.parse(text)
                    else { return nil }
                    let hidden = role["hidden"]?.array?.compactMap(\.string) ?? []
                    seen?.append(Seen(filter: filter, hidden: Set(hidden)))
                }
            }
            let fields = part["fields"]?.array.map { Set($0.compactMap(\.string)) }
            parts[ByteText(field.key)] = Part(role: role, schema: schema, fields: fields, seen: seen)
        }
        self.parts = parts
    }

    var value: BSONValue {
        var document = BSONDocument()
        for (table, part) in parts.sorted(by: { TextOrder.compare($0.key.text, $1.key.text) < 0 }) {
            document.append(
                table.text,
                .document([
                    "role": .string(part.role), "schema": .string(part.schema),
                    "fields": part.fields.map { .array($0.sorted().map { .string($0) }) } ?? .null,
                    "seen": part.seen.flatMap(Self.value) ?? .null,
                ])
            )
        }
        return .document(document)
    }

    private static func value(_ seen: [Seen]) -> BSONValue? {
        var roles: [BSONValue] = []
        for role in seen {
            guard let filter = SyncFilterText.document(role.filter) else { return nil }
            roles.append([
                "filter": .document(filter), "hidden": .array(role.hidden.sorted().map { .string($0) }),
            ])
        }
        return .array(roles)
    }

    static func == (left: SyncRememberedView, right: SyncRememberedView) -> Bool {
        left.parts.count == right.parts.count
            && left.parts.allSatisfy { table, part in
                right.parts[table].map { $0.role == part.role && $0.schema == part.schema } ?? false
            }
    }
}

/// What is kept of a file: the view that its device has, and the one that it was brought to and may have.
struct SyncPermissionsRecord {
    var now: SyncRememberedView
    /// The view it was brought to, at which version, and where it stood before.
    var next: (view: SyncRememberedView, version: Int64, from: Int64)?
    /// Bootstraps by rising version, as long as the device may send what it changed before it had them.
    private(set) var bootstraps: [Bootstrap] = []
    /// How far the device has got with a partition, by rising version; the last is kept until nothing is left.
    private(set) var stages: [Stage] = []

    /// What a device does not have yet when it has a version.
    struct Stage: Equatable {
        let version: Int64
        let rest: SyncRemainder
    }

    /// A bootstrap that the device got in place of what it held.
    struct Bootstrap: Equatable {
        /// That of nothing else.
        let version: Int64
        /// The query until then.
        let before: String
        /// The classes of which it brought everything anew.
        var renewed: [String] = []
    }

    init(_ view: SyncRememberedView) { now = view }

    /// Whether the device was told no classes.
    var isEmpty: Bool { now.parts.isEmpty && next == nil }

    /// Read back; nil for what is not one.
    init?(_ text: String) {
        guard let document = try? ExtendedJSON.readValue(Array(text.utf8)).document,
            let now = SyncRememberedView(document["now"])
        else { return nil }
        self.now = now
        if let view = SyncRememberedView(document["next"]), let version = document["version"]?.exactInt64,
            let from = document["from"]?.exactInt64
        {
            next = (view, version, from)
        }
        for case let value? in (document["bootstraps"]?.array ?? []).map(\.document) {
            guard let version = value["version"]?.exactInt64, let before = value["before"]?.string else {
                return nil
            }
            let renewed = (value["renewed"]?.array ?? []).compactMap(\.string)
            bootstraps.append(Bootstrap(version: version, before: before, renewed: renewed))
        }
        for case let value? in (document["stages"]?.array ?? []).map(\.document) {
            guard let version = value["version"]?.exactInt64, let rest = SyncRemainder(value["rest"]) else {
                return nil
            }
            stages.append(Stage(version: version, rest: rest))
        }
    }

    var text: String {
        var document: BSONDocument = ["now": now.value]
        if let next {
            document.append("next", next.view.value)
            document.append("version", .int64(next.version))
            document.append("from", .int64(next.from))
        }
        if !bootstraps.isEmpty {
            let values = bootstraps.map { bootstrap -> BSONValue in
                [
                    "version": .int64(bootstrap.version), "before": .string(bootstrap.before),
                    "renewed": .array(bootstrap.renewed.map { .string($0) }),
                ]
            }
            document.append("bootstraps", .array(values))
        }
        if !stages.isEmpty {
            let values = stages.map { stage -> BSONValue in
                ["version": .int64(stage.version), "rest": stage.rest.value]
            }
            document.append("stages", .array(values))
        }
        var text: [UInt8] = []
        ExtendedJSON.writeCanonical(document, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The device has integrated everything up to a version.
    mutating func acknowledged(_ version: Int64) {
        guard let next else { return }
        // At the version where it stood before, it may not have integrated what came at that version.
        guard version > next.version || version == next.version && next.version > next.from else { return }
        now = next.view
        self.next = nil
    }

    /// A bootstrap is about to be sent.
    mutating func began(_ bootstrap: Bootstrap) { bootstraps.append(bootstrap) }

    /// The device has everything up to a version and nothing of what was sent after it; what it sends was made with
    /// everything up to `base`, at least.
    mutating func resumed(at version: Int64, base: Int64) {
        bootstraps.removeAll { $0.version > version || $0.version <= base }
        stages.removeAll { $0.version > version }
        forgetStages(through: base)
    }

    /// What the device sends from now on was made with everything up to a version, at least.
    mutating func told(_ base: Int64) {
        bootstraps.removeAll { $0.version <= base }
        forgetStages(through: base)
    }

    /// The device is about to get a part of its partition.
    mutating func reaches(_ version: Int64, _ rest: SyncRemainder) {
        stages.append(Stage(version: version, rest: rest))
    }

    /// What the device does not have yet.
    var rest: SyncRemainder { stages.last?.rest ?? SyncRemainder() }

    private mutating func forgetStages(through base: Int64) {
        // What stood before a stage that the device may not have known of is said by the one before it.
        let known = stages.lastIndex { $0.version <= base } ?? 0
        stages.removeFirst(known)
        if let only = stages.first, stages.count == 1, only.version <= base, only.rest.isEmpty { stages = [] }
    }

    /// The properties of a class whose values the device has in any case; nil where that cannot be said.
    func knownFields(of table: ByteText) -> Set<String>? {
        guard let part = now.parts[table] else { return [] }
        guard let fields = part.fields else { return nil }
        guard let next else { return fields }
        return next.view.parts[table].map { $0.fields.map(fields.intersection) } ?? []
    }

    /// As ``knownFields(of:)``, of several classes.
    func knownFields(of tables: Set<ByteText>) -> [ByteText: Set<String>?] {
        Dictionary(uniqueKeysWithValues: tables.map { ($0, knownFields(of: $0)) })
    }

    /// What the device may hold of a class, by either view; nil where that cannot be said.
    func seen(_ table: ByteText) -> [SyncRememberedView.Seen]? {
        var members: [SyncRememberedView.Seen] = []
        for part in [now.parts[table], next?.view.parts[table]].compactMap(\.self) {
            guard let seen = part.seen else { return nil }
            members += seen.filter { !members.contains($0) }
        }
        return members
    }

    /// The documents that the device may hold of a class by a query; nil where that cannot be said.
    func held(_ table: ByteText, by query: Filter) -> Filter? {
        seen(table).map { roles in
            roles.isEmpty
                ? .nothing : .or(roles.map { .and([query.lacking($0.hidden), $0.filter]) })
        }
    }

    /// The view that the device was brought to last.
    var last: SyncRememberedView { next?.view ?? now }
}
