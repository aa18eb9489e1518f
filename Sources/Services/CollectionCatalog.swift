import BSON
public import Errors
public import Postgres
public import QueryCompiler
import SQL
import Synchronization

/// Which collections there are and how they lie in their tables.
///
/// Run ``run()`` as long as the process lives: it hears when a collection comes or gains a promoted field.
/// Absence is never remembered, so a collection that another process makes is found at once.
public final class CollectionCatalog: Sendable {
    private struct Address: Hashable {
        /// Bytes, since Swift calls texts equal that are different names.
        let database: [UInt8]
        let collection: [UInt8]
    }

    private struct Entry {
        var layout: CollectionLayout
        let isGoodUntil: ContinuousClock.Instant
    }

    private struct State {
        var layouts: [Address: Entry] = [:]
        /// Raised by every invalidation, so that a load that began before it is not kept.
        var generation = 0
    }

    /// More collections than this are looked up each time.
    private static let rememberedLayouts = 10_000
    /// Nobody tells of indexes made by hand, of statistics, or that the last value beside a typed column went.
    private static let refresh = Duration.seconds(60)
    /// A column with at least so many different values is spread.
    private static let manyValues: Int64 = 100
    private let database: Database
    private let state = Mutex(State())

    /// A catalogue that knows nothing yet.
    public init(database: Database) {
        self.database = database
    }

    /// Follows `tidegate_collections` until cancelled.
    public func run() async {
        for await _ in database.notifications(["tidegate_collections"]) { forgetAll() }
    }

    /// The layout of a collection; nil when there is no such collection.
    ///
    /// Never makes one.
    public func layout(
        database name: String,
        collection: String,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> CollectionLayout? {
        let address = Address(database: Array(name.utf8), collection: Array(collection.utf8))
        let (known, generation) = state.withLock { ($0.layouts[address], $0.generation) }
        if let known, known.isGoodUntil > .now { return known.layout }
        let rows = try await database.run(
            """
            SELECT id, schema_name, table_name, promoted, indexed, mapped -> 'writable', \
            EXISTS (SELECT FROM pg_index i JOIN pg_class r ON r.oid = i.indexrelid JOIN pg_am m ON m.oid = r.relam \
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'doc' \
            WHERE i.indrelid = to_regclass(format('%I.%I', c.schema_name, c.table_name)) AND m.amname = 'gin' \
            AND a.attnum = ANY (i.indkey)), \
            (SELECT jsonb_agg(s.attname) FROM pg_stats s WHERE s.schemaname = c.schema_name \
            AND s.tablename = c.table_name AND (s.n_distinct < 0 OR s.n_distinct >= \(bind: .int(Self.manyValues)))) \
            FROM tidegate.collections c \
            WHERE database = \(bind: .text(name)) AND collection = \(bind: .text(collection))
            """,
            plan: .generic,
            deadline: deadline
        )
        guard rows.rowCount > 0, let id = rows.int(0, 0).flatMap({ Int32(exactly: $0) }),
            let schema = rows.text(0, 1), let table = rows.text(0, 2)
        else { return nil }
        let layout = try CollectionLayout(
            id: id,
            schema: schema,
            name: table,
            promoted: Array(rows.slice(0, 3) ?? []),
            indexed: Array(rows.slice(0, 4) ?? []),
            origin: rows.text(0, 5).map { .mapped(isWritable: $0 == "true") } ?? .own,
            facts: TableFacts(
                hasDocumentIndex: rows.bool(0, 6) ?? false,
                spreadColumns: Set(
                    try rows.slice(0, 7).map { slice throws(ServiceError) in
                        try ExtendedJSON.readValue(Array(slice)).array?.compactMap(\.string) ?? []
                    } ?? []
                )
            )
        )
        state.withLock { state in
            guard state.generation == generation,
                state.layouts.count < Self.rememberedLayouts || state.layouts[address] != nil
            else { return }
            state.layouts[address] = Entry(layout: layout, isGoodUntil: .now + Self.refresh)
        }
        return layout
    }

    /// The layout of a collection, which is made when there is none.
    ///
    /// - Throws: ``ServiceError`` InvalidNamespace (73) for names that MongoDB refuses as well.
    public func ensure(
        database name: String,
        collection: String,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> CollectionLayout {
        if let layout = try await layout(database: name, collection: collection, deadline: deadline) {
            return layout
        }
        try Self.check(database: name, collection: collection)
        _ = try await database.run(
            "SELECT tidegate.ensure_collection(\(bind: .text(name)), \(bind: .text(collection)))",
            deadline: deadline
        )
        if let layout = try await layout(database: name, collection: collection, deadline: deadline) {
            return layout
        }
        throw ServiceError(.internalServerError, "the collection was removed at this moment")
    }

    /// Takes note that values lie beside a typed column, until the layout is read anew.
    ///
    /// - Parameter place: As ``QueryCompiler/CollectionLayout/place(of:)``.
    func distrust(_ place: String) {
        state.withLock { state in
            for (address, entry) in state.layouts {
                if let changed = entry.layout.distrusting(place) { state.layouts[address]?.layout = changed }
            }
        }
    }

    /// Forgets a layout that turned out to be old.
    func forgetAll() {
        state.withLock { state in
            state.layouts = [:]
            state.generation += 1
        }
    }

    /// Names as MongoDB takes them: `reference/mql.md` has no table of them, so the server's own rules.
    private static func check(database: String, collection: String) throws(ServiceError) {
        let isDatabase =
            !database.isEmpty && database.utf8.count <= 63
            && !database.utf8.contains { #"/\. "$"#.utf8.contains($0) || $0 == 0 }
        guard isDatabase else {
            throw .mongo(73, "Invalid namespace specified '\(database).\(collection)'")
        }
        let isCollection =
            !collection.isEmpty && collection.utf8.count <= 235
            && !collection.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "$") }
            && collection.utf8.first != UInt8(ascii: ".")
        guard isCollection else {
            throw .mongo(73, "Invalid collection name specified '\(database).\(collection)'")
        }
    }
}
