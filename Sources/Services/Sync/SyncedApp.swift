import AppDefinition
import BSON
import Crypto
import Errors
import MQL
import Schemas
import Sync

/// An app at one version, as devices of one version of its schemas see it.
final class SyncedApp: Sendable {
    /// With the schemas of the version.
    let snapshot: AppSnapshot
    let definition: SyncDefinition
    let schema: SyncSchema
    /// The number by which devices name the schemas.
    let schemaVersion: Int64
    /// The collections of the classes that have one, by the number in the change log; of the newest version also those
    /// that earlier ones have.
    let collections: [Int32: Namespace]
    /// The names of the classes at all versions that are served.
    let names: SyncClassNames
    /// The classes of collections that earlier versions alone have.
    private let retired: [Namespace: ObjectMapping]
    private let successor: SyncedApp?
    /// What decides which documents of a class fit, by the name of the class, for those that devices hold.
    let forms: [String: Form]
    /// Where roles find what they may know of users, beside the users themselves.
    let userData: UserData?
    /// Of the epoch of the history.
    let salt: Int64
    /// What is new in the history.
    let feed: SyncFeed

    /// A class as documents of its collection are held against it.
    struct Form {
        let collection: Int32
        /// Another one with every other class.
        let digest: String
    }

    /// The custom user data of an app.
    struct UserData {
        /// Its number in the change log.
        let collection: Int32
        /// Where a document names its user.
        let field: String

        /// The user of a document.
        func user(of document: BSONDocument?) -> String? {
            switch document?[field] {
            case .string(let id)?: id
            case .objectID(let id)?: id.hex
            default: nil
            }
        }
    }

    /// The app at the newest version of its schemas.
    init(
        snapshot: AppSnapshot,
        definition: SyncDefinition,
        schema: SyncSchema,
        schemaVersion: Int64,
        collections: [Int32: Namespace],
        userData: UserData?,
        earlier: [SyncSchema],
        salt: Int64,
        feed: SyncFeed
    ) {
        self.snapshot = snapshot
        self.definition = definition
        self.schema = schema
        self.schemaVersion = schemaVersion
        var names = SyncClassNames(schema)
        for then in earlier.reversed() { names.add(then) }
        self.names = names
        var retired: [Namespace: ObjectMapping] = [:]
        for then in earlier.reversed() {
            for type in then.classes {
                guard let place = type.namespace, schema[place] == nil, retired[place] == nil else {
                    continue
                }
                retired[place] = then.mapping(of: type.name)
            }
        }
        self.retired = retired
        self.collections = collections.filter { schema[$0.value] != nil || retired[$0.value] != nil }
        forms = Self.forms(schema, collections)
        self.userData = userData
        self.salt = salt
        self.feed = feed
        successor = nil
    }

    /// The app at an earlier version of its schemas.
    init(_ newest: SyncedApp, at earlier: EarlierSchema) {
        snapshot = earlier.snapshot
        definition = newest.definition
        schema = earlier.schema
        schemaVersion = earlier.version
        collections = newest.collections.filter { earlier.schema[$0.value] != nil }
        names = newest.names
        retired = [:]
        forms = Self.forms(schema, collections)
        userData = newest.userData
        salt = newest.salt
        feed = newest.feed
        successor = newest
    }

    /// The app at the newest version of its schemas.
    var newest: SyncedApp { successor ?? self }

    /// How documents of a collection become objects; of a collection that earlier versions alone have, as the last of
    /// them has it.
    func mapping(at place: Namespace) -> ObjectMapping? {
        schema[place].flatMap { schema.mapping(of: $0.name) } ?? retired[place]
    }

    /// The classes whose objects devices hold.
    var readableClasses: [SyncClass] { schema.classes.filter { $0.namespace != nil && !$0.isAsymmetric } }

    /// Whether changes of a collection mean something to devices.
    func follows(_ collection: Int32) -> Bool {
        collections[collection] != nil || userData?.collection == collection
    }

    /// The names that queries may use in a class.
    func queryableFields(of type: SyncClass) -> Set<String> {
        guard let namespace = type.namespace else { return [] }
        return Set(definition.queryableFields(of: namespace.collection) + ["_id"])
    }

    private static func forms(_ schema: SyncSchema, _ collections: [Int32: Namespace]) -> [String: Form] {
        let additions = Dictionary(grouping: schema.instructions, by: \.table)
        var forms: [String: Form] = [:]
        for (collection, place) in collections {
            guard let type = schema[place], !type.isAsymmetric else { continue }
            var digest = SHA256()
            for part in schema.parts(of: type) {
                for instruction in additions[part.name] ?? [] {
                    digest.update(data: Array("\(instruction)\n".utf8))
                }
                for property in part.properties {
                    digest.update(data: Array("\(property.type) \(property.defaultValue == nil)\n".utf8))
                }
            }
            let text = digest.finalize().map { String($0, radix: 16) }.joined(separator: ".")
            forms[type.name.text] = Form(collection: collection, digest: text)
        }
        return forms
    }

    /// The classes that the schemas of an app make.
    static func schema(of snapshot: AppSnapshot, _ definition: SyncDefinition) -> (
        schema: SyncSchema, faults: [SyncSchema.Fault]
    ) {
        var sources: [SyncSchema.Source] = []
        for source in snapshot.definition.dataSources
        where definition.dataSource == nil || TextOrder.equal(definition.dataSource ?? "", source.name) {
            for collection in source.collections {
                guard let schema = collection.schema, schema.title != nil else { continue }
                let isAsymmetric = schema.title.map { title in
                    definition.asymmetricCollections.contains { TextOrder.equal($0, title) }
                }
                sources.append(
                    SyncSchema.Source(
                        namespace: Namespace(
                            dataSource: source.name,
                            database: collection.database,
                            collection: collection.collection
                        ),
                        schema: schema,
                        relationships: collection.relationships.map {
                            Schemas.Relationship(
                                path: $0.field,
                                dataSource: $0.dataSource,
                                database: $0.database,
                                collection: $0.collection,
                                foreignKey: $0.foreignKey,
                                isList: $0.isList
                            )
                        },
                        isAsymmetric: isAsymmetric ?? false
                    )
                )
            }
        }
        return SyncSchema.make(sources)
    }
}
