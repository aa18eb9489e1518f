import Accounts
import AppDefinition
import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import SQL
import Sync
import Synchronization

/// An app at every version of its schemas that devices may say.
struct SyncedVersions: Sendable {
    /// As the app is.
    let newest: SyncedApp
    /// By number.
    let earlier: [Int64: SyncedApp]

    subscript(version: Int64) -> SyncedApp? {
        version == newest.schemaVersion ? newest : earlier[version]
    }
}

// The apps as their devices see them.
extension SyncService {
    var synced: [SyncedApp] { state.withLock { $0.apps.values.map(\.newest) } }

    func forget(_ app: String) { state.withLock { $0.apps[app] = nil } }

    /// The app as devices of its newest schemas see it now.
    ///
    /// - Throws: ``SyncFault`` where the app does not sync.
    func app(_ id: String) async throws -> SyncedApp { try await versions(id).newest }

    /// The app as devices of a version of its schemas see it now.
    ///
    /// - Throws: ``SyncFault`` with `sessionClosed` where the version is not served any more: the device comes again.
    func app(_ id: String, schemaVersion: Int64) async throws -> SyncedApp {
        guard let app = try await versions(id)[schemaVersion] else {
            throw SyncFault(
                .sessionClosed,
                "Session closed: the version of the schema is not served any more"
            )
        }
        return app
    }

    /// The app as devices see it now.
    ///
    /// - Throws: ``SyncFault`` where the app does not sync.
    func versions(_ id: String) async throws -> SyncedVersions {
        guard let snapshot = apps.app(id: id) else {
            throw SyncFault(.otherSessionError, "the app is not served")
        }
        if let known = state.withLock({ $0.apps[id] }), known.newest.snapshot === snapshot { return known }
        guard let definition = snapshot.definition.sync else {
            throw SyncFault(.otherSessionError, "sync is not enabled for this app")
        }
        guard definition.isEnabled else {
            throw SyncFault(.initialSyncNotCompleted, "sync is paused or terminated for this app")
        }
        let (schema, faults) = SyncedApp.schema(of: snapshot, definition)
        for fault in faults {
            report(ServiceError(.invalidAppDefinition, "sync: \(known: fault.description)"))
        }
        let kept = try await keep(snapshot, schema, definition)
        let userData = snapshot.accounts.customUserData.map { configuration in
            Namespace(
                dataSource: configuration.serviceName ?? "",
                database: configuration.databaseName,
                collection: configuration.collectionName
            )
        }
        var places: [Namespace] = []
        let classes = ([schema] + kept.earlier.map(\.schema)).flatMap(\.classes)
        for place in classes.compactMap(\.namespace) + [userData].compactMap(\.self)
        where !places.contains(where: { $0.isAt(place) }) {
            places.append(place)
        }
        let rows = try await run(
            SyncStatements.begin(
                id,
                salt: Int64.random(in: 1...Int64.max),
                databases: places.map(\.database),
                collections: places.map(\.collection)
            )
        )
        guard let salt = rows.int(0, 0), let version = rows.int(0, 1) else {
            throw SyncHistoryReader.malformed
        }
        let feed = state.withLock { state in
            if let known = state.feeds[id] { return known }
            let made = SyncFeed(app: id, salt: Int64(salt), head: Int64(version))
            state.feeds[id] = made
            return made
        }
        let numbers = try await numbers(of: places)
        let newest = SyncedApp(
            snapshot: snapshot,
            definition: definition,
            schema: schema,
            schemaVersion: kept.newest,
            collections: numbers,
            userData: snapshot.accounts.customUserData.flatMap { configuration in
                numbers.first { userData?.isAt($0.value) == true }.map {
                    SyncedApp.UserData(collection: $0.key, field: configuration.userIDField)
                }
            },
            earlier: kept.earlier.map(\.schema),
            salt: Int64(salt),
            feed: feed
        )
        let earlier = kept.earlier.map { ($0.version, SyncedApp(newest, at: $0)) }
        let versions = SyncedVersions(
            newest: newest,
            earlier: Dictionary(earlier, uniquingKeysWith: { first, _ in first })
        )
        state.withLock { $0.apps[id] = versions }
        // What has come while nobody made history of it.
        try await SyncPending(service: self, app: newest).integrate()
        // It may be of an epoch that has ended.
        try await feed.refresh(self)
        return versions
    }

    /// Collections by their numbers in the change log.
    private func numbers(of places: [Namespace]) async throws(ServiceError) -> [Int32: Namespace] {
        var numbers: [Int32: Namespace] = [:]
        for place in places {
            let layout = try await data.catalog.layout(
                database: place.database,
                collection: place.collection,
                deadline: .now + Self.timeLimit
            )
            if let layout { numbers[layout.id] = place }
        }
        return numbers
    }

    // MARK: Versions of the schemas

    /// Keeps the schemas of an app as they are now, those that break with the newest that devices have as a version of
    /// their own.
    ///
    /// - Returns: The number of the newest, and the earlier ones.
    private func keep(_ snapshot: AppSnapshot, _ schema: SyncSchema, _ definition: SyncDefinition)
        async throws
        -> (newest: Int64, earlier: [EarlierSchema])
    {
        func read(_ newest: Int64, isBreaking: Bool) async throws -> [EarlierSchema] {
            let rows = try await run(
                SyncStatements.keepSchemas(
                    snapshot.id,
                    configuration: snapshot.version,
                    newest: newest,
                    isBreaking: isBreaking
                )
            )
            return try (0..<rows.rowCount).map { row in
                guard let version = rows.int(row, 0), let text = rows.text(row, 1) else {
                    throw SyncHistoryReader.malformed
                }
                return EarlierSchema(
                    Int64(version),
                    try ExtendedJSON.readValue(Array(text.utf8)),
                    snapshot,
                    definition
                )
            }
        }
        var kept = try await read(-1, isBreaking: false)
        guard let last = kept.last else { return (0, []) }
        let isBreaking = !Set(schema.instructions).isSuperset(of: last.schema.instructions)
        kept = try await read(last.version, isBreaking: isBreaking)
        let newest = kept.popLast()?.version ?? last.version
        var names = SyncClassNames(schema)
        // Of two that cannot be served together the later is.
        var served: [EarlierSchema] = []
        for earlier in kept.reversed() {
            if let name = names.conflict(with: earlier.schema) {
                report(
                    ServiceError(
                        .invalidAppDefinition,
                        """
                        sync: version \(earlier.version) of the schema is not served: its class \
                        "\(known: name.text)" is in another collection later
                        """
                    )
                )
                continue
            }
            names.add(earlier.schema)
            served.append(earlier)
        }
        // The newest was changed itself, and nobody can say any more what its classes were called in the history.
        for type in last.schema.classes where newest == last.version && !names.isKnown(type.name) {
            guard let name = type.namespace.flatMap({ schema[$0]?.name }) else { continue }
            _ = try await run(SyncStatements.rename(snapshot.id, type.name.text, to: name.text))
        }
        return (newest, served.reversed())
    }
}

/// The schemas of an app at an earlier version.
struct EarlierSchema {
    let version: Int64
    /// The app with these schemas.
    let snapshot: AppSnapshot
    let schema: SyncSchema

    /// Read back from what is kept.
    init(_ version: Int64, _ kept: BSONValue, _ snapshot: AppSnapshot, _ definition: SyncDefinition) {
        self.version = version
        self.snapshot = AppSnapshot(
            id: snapshot.id,
            clientAppID: snapshot.clientAppID,
            version: snapshot.version,
            definition: snapshot.definition.with(schemas: (kept.array ?? []).compactMap(\.document)),
            secrets: snapshot.secrets
        )
        schema = SyncedApp.schema(of: self.snapshot, definition).schema
    }
}

extension Namespace {
    /// Whether both are one collection, whatever their data sources are called.
    fileprivate func isAt(_ other: Namespace) -> Bool {
        TextOrder.equal(database, other.database) && TextOrder.equal(collection, other.collection)
    }
}
