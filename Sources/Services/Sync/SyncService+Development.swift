import AppDefinition
import BSON
import Errors
import MQL
import Postgres
import SQL
import Sync

// Development mode: devices add classes, properties and queryable fields.
//
// Source: `sync-semantics.md` §14.
extension SyncService {
    /// Adds what a device says of its classes to an app's schemas.
    ///
    /// - Parameters:
    ///   - app: The app at the newest version of its schemas.
    ///   - instructions: What the device says.
    ///   - file: The file of a device that was told no classes: what contradicts the schemas replaces them, and all
    ///     others begin anew.
    /// - Returns: The app with all of it; nil when the device says nothing new.
    /// - Throws: ``SyncFault`` with `invalidSchemaChange` for what no schema can say, and what the database says.
    func grow(_ app: SyncedApp, by instructions: [Instruction], breakingFor file: FileIdent?) async throws
        -> SyncedApp?
    {
        let known = app.schema.classes.lazy.compactMap(\.namespace).first
        let source = app.definition.dataSource ?? known?.dataSource
        guard let source, let database = app.definition.database ?? known?.database else { return nil }
        let growth = SchemaGrowth(
            instructions,
            to: app.schema,
            replacing: file != nil,
            dataSource: source,
            database: database
        )
        if growth.isEmpty { return nil }
        let id = app.snapshot.id
        try await self.database.transaction(within: Self.timeLimit) { transaction in
            _ = try await transaction.run(SyncStatements.lockSchemas(id), plan: .generic)
            let rows = try await transaction.run(SyncStatements.schemas(id, source: source), plan: .generic)
            let files = try Self.files(rows, source)
            for grown in try growth.grown({ files[$0] }) {
                _ = try await transaction.run(
                    SyncStatements.grow(
                        id,
                        grown,
                        schema: ExtendedJSON.relaxed(grown.schema),
                        relationships: ExtendedJSON.relaxed(grown.relationships)
                    ),
                    plan: .generic
                )
            }
            if growth.isBreaking, let file {
                _ = try await transaction.run(
                    SyncStatements.breakSchemas(id, file: file.ident),
                    plan: .generic
                )
            }
        }
        try await apps.reload(id: id)
        return try await self.app(id)
    }

    private static func files(_ rows: ResultSet, _ source: String) throws -> [Namespace: (
        schema: BSONDocument, relationships: BSONDocument
    )] {
        var files: [Namespace: (schema: BSONDocument, relationships: BSONDocument)] = [:]
        for row in 0..<rows.rowCount {
            let place = Namespace(
                dataSource: source,
                database: rows.text(row, 0) ?? "",
                collection: rows.text(row, 1) ?? ""
            )
            files[place] = (
                try ExtendedJSON.document(rows.text(row, 2) ?? "{}"),
                try ExtendedJSON.document(rows.text(row, 3) ?? "{}")
            )
        }
        return files
    }

    /// Lets queries name the fields that a device's queries name.
    ///
    /// - Returns: The app with them; nil when they may be named already, or the queries are not understood.
    func grow(_ app: SyncedApp, queries body: ByteText) async throws -> SyncedApp? {
        let reader = SubscriptionReader(schema: app.schema, queryable: QueryableFields(byClass: nil))
        guard let queries = try? reader.read(body.text) else { return nil }
        var isNew = false
        for (table, query) in queries {
            guard let type = app.schema[table], let collection = type.namespace?.collection else { continue }
            let known = app.queryableFields(of: type)
            let fields = query.fields.map(\.text).filter { !known.contains($0) }
            if fields.isEmpty { continue }
            isNew = true
            _ = try await run(
                SyncStatements.grow(app.snapshot.id, collection: collection, fields: fields.sorted())
            )
        }
        guard isNew else { return nil }
        try await apps.reload(id: app.snapshot.id)
        return try await self.app(app.snapshot.id)
    }
}

extension SyncConversation {
    /// In development mode adds what the device says of its classes to the app's.
    func develop(_ upload: ClientMessage.Upload) async throws {
        guard let live, live.app.isDeveloped else { return }
        var said: [Instruction] = []
        for uploaded in upload.changesets where uploaded.clientVersion > live.upload.client {
            said += try ChangesetReader.read(uploaded.bytes[...]).instructions.filter { $0.object == nil }
        }
        let file = live.isUntold ? live.file : nil
        guard !said.isEmpty,
            let grown = try await service.grow(live.app, by: said, breakingFor: file)
        else { return }
        try await adopt(grown, knowing: said)
    }

    /// In development mode lets queries name the fields that the device's queries name.
    func develop(_ query: SubscriptionSet) async throws {
        guard let live, live.app.isDeveloped,
            let grown = try await service.grow(live.app, queries: query.body)
        else { return }
        try await adopt(grown, knowing: [])
    }

    /// Goes on with the app as this device has changed it, which knows of its own changes.
    ///
    /// - Throws: ``SyncFault`` with `sessionClosed` where the app has more that is new to the device.
    private func adopt(_ app: SyncedApp, knowing said: [Instruction]) async throws {
        guard let live else { return }
        let known = Set((live.app.schema.instructions + said).map(SchemaPlace.init))
        guard live.isUntold || app.schema.instructions.allSatisfy({ known.contains(SchemaPlace($0)) }),
            live.record?.next == nil, app.salt == live.app.salt,
            app.definition.isPartitioned == live.app.definition.isPartitioned
        else { throw SyncFault(.sessionClosed, "Session closed: the schema has grown") }
        let view = try await permissions(app)
        let filters = caller.isFlexible ? live.view.filters : view.filters
        self.live?.app = app
        self.live?.views.current = SyncView(permissions: view.permissions, filters: filters)
        if !live.isUntold { self.live?.record?.now = SyncRememberedView(view, app) }
        try await remember()
        try await follow()
    }

    // MARK: Devices that may break with the schemas

    /// How long a device has for saying its classes, after which it is told those of the app: one that waits for the
    /// server before it opens its realm has none in the beginning, one that only looks has none at all.
    private static let patience = Duration.seconds(15)

    /// In development mode a new file is told no classes before it has said its own or asked for objects.
    ///
    /// Where the two contradict each other the device would refuse the app's, and never send its own.
    func awaitClasses() {
        live?.isUntold = true
        lease.remind(at: .now + Self.patience)
    }

    /// Tells all classes, if the device was told none.
    func tellClasses() async throws {
        guard let live, live.isUntold else { return }
        self.live?.isUntold = false
        try await rebootstrap(
            RoleChange(tables: [], isSchema: true),
            live.query,
            live.view.filters,
            asBootstrap: false
        )
    }
}

extension SyncedApp {
    /// Whether its devices add to its schemas: those of an earlier version stay as they are.
    var isDeveloped: Bool { definition.developmentMode && newest === self }
}

/// What an instruction about the schema is about.
private struct SchemaPlace: Hashable {
    let table: ByteText
    let field: ByteText?

    init(_ instruction: Instruction) {
        table = instruction.table
        switch instruction {
        case .addColumn(let column): field = column.field
        default: field = nil
        }
    }
}
