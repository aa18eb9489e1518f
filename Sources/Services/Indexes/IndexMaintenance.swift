import BSON
public import Errors
public import Observability
public import Postgres
import SQL

/// What indexes need beside requests: those that wait are built, and documents whose time is over go.
///
/// Any number of gateways may run it: an index is claimed by one, and documents expire under a lock.
public struct IndexMaintenance: Sendable {
    /// How often it looks for documents whose time is over.
    static let interval = Duration.seconds(60)
    /// How many documents one statement removes for each index.
    static let batch = 1000
    private let database: Database
    private let settings: PostgresSettings
    private let observer: Observer?

    /// Made of its parts.
    ///
    /// - Parameters:
    ///   - database: Where statements of ordinary length run.
    ///   - settings: How to connect for builds, which get a connection of their own and all the time they need.
    ///   - observer: Learns of failures.
    public init(database: Database, settings: PostgresSettings, observer: Observer? = nil) {
        self.database = database
        var settings = settings
        settings.maxConnections = 1
        settings.statementTimeout = .seconds(7 * 24 * 3600)
        self.settings = settings
        self.observer = observer
    }

    /// Builds what waits, at start and whenever an administrator asks for an index, until cancelled.
    public func build() async {
        for await _ in database.notifications(["tidegate_indexes"]) { await buildAll() }
    }

    /// Removes documents whose time is over, once a minute, until cancelled.
    public func expire() async {
        while !Task.isCancelled {
            do throws(ServiceError) {
                // More than one batch is removed at once; others write in between.
                while try await expireBatch() >= Self.batch, !Task.isCancelled {}
            } catch {
                observer?.record(.internalError(error, requestID: nil))
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Removes one batch of documents whose time is over.
    ///
    /// - Returns: How many went; 0 while another gateway is at it.
    public func expireBatch() async throws(ServiceError) -> Int {
        let rows = try await database.run(
            "SELECT tidegate.expire_documents(\(bind: .int4(Int32(Self.batch))))"
        )
        return rows.int(0, 0) ?? 0
    }

    /// Builds what waits, if this login may; failures are entered where `list_indexes` shows them.
    ///
    /// - Returns: How many builds were tried.
    @discardableResult
    public func buildAll() async -> Int {
        var tried = 0
        do throws(ServiceError) {
            while !Task.isCancelled {
                let claim = try await database.run(
                    "SELECT index_id, to_jsonb(scripts) FROM tidegate.claim_index()"
                )
                guard let id = claim.int(0, 0) else { break }
                tried += 1
                let failure = await build(try Self.scripts(claim))
                _ = try await database.run(
                    "SELECT tidegate.finish_index(\(bind: .int4(Int32(id))), \(failure.map { .bind(.text($0)) } ?? "NULL"))"
                )
            }
        } catch {
            observer?.record(.internalError(error, requestID: nil))
        }
        return tried
    }

    /// - Returns: Why it failed, nil when it did not.
    private func build(_ scripts: [String]) async -> String? {
        let builder = Database(settings: settings, observer: observer)
        var failure: String?
        for script in scripts {
            do throws(ServiceError) {
                try await builder.script(script)
            } catch {
                failure = error.postgresFailure?.message ?? error.message
                break
            }
        }
        await builder.close()
        return failure
    }

    private static func scripts(_ claim: ResultSet) throws(ServiceError) -> [String] {
        guard let slice = claim.slice(0, 1) else { return [] }
        return try ExtendedJSON.readValue(Array(slice)).array?.compactMap(\.string) ?? []
    }
}
