import BSON
import MQL
import Sync

/// What the classes of collections are called, at all versions of an app's schemas.
///
/// In the history an object goes by the name of its class at the version of whoever wrote it. A name means one
/// collection in all versions; a collection may have several names.
struct SyncClassNames: Sendable {
    private var places: [ByteText: Namespace] = [:]
    private var names: [Namespace: [ByteText]] = [:]

    /// The names at one version.
    init(_ schema: SyncSchema) { add(schema) }

    /// The first class of another version whose name means another collection here.
    func conflict(with schema: SyncSchema) -> ByteText? {
        schema.classes.first { type in
            guard let place = type.namespace, let known = places[type.name] else { return false }
            return known != place
        }?.name
    }

    /// Takes in the names at another version, which has no conflict with these.
    mutating func add(_ schema: SyncSchema) {
        for type in schema.classes {
            guard let place = type.namespace, places[type.name] == nil else { continue }
            places[type.name] = place
            names[place, default: []].append(type.name)
        }
    }

    /// Whether a name means a collection at any version.
    func isKnown(_ name: ByteText) -> Bool { places[name] != nil }

    /// All names of a class, this one among them.
    func all(_ name: ByteText) -> [ByteText] { places[name].flatMap { names[$0] } ?? [name] }

    /// What a class is called at a version; the same where it has no such class.
    func name(of name: ByteText, in schema: SyncSchema) -> ByteText {
        places[name].flatMap { schema[$0]?.name } ?? name
    }
}

extension SyncedApp {
    /// What a class of the history is called at this version of the schemas.
    func ownName(of table: ByteText) -> ByteText { names.name(of: table, in: schema) }

    /// Entries of the history with the objects' classes as they are called at this version of the schemas.
    ///
    /// What was changed is said in the words of whoever wrote it: another version's is said anew for each device.
    func translated(_ entries: [SyncHistoryEntry]) -> [SyncHistoryEntry] {
        entries.map { entry in
            if entry.schemaVersion == schemaVersion { return entry }
            var own = entry
            for place in own.objects.indices {
                let address = own.objects[place].address
                let name = ownName(of: address.table)
                if name != address.table {
                    own.objects[place].address = ObjectAddress(table: name, key: address.key)
                }
            }
            return own
        }
    }
}
