import BSON
public import Errors
public import MQL
public import Postgres
import QueryCompiler
import Rules
import SQL

/// Documents from a file into a collection, past all rules.
///
/// The file is a stream: one Extended JSON document per line, or one JSON array. All of it goes in within one
/// transaction, or nothing; told to keep going, each batch is a transaction of its own and bad documents are left out.
public struct DocumentImport: Sendable {
    /// A document that was not taken.
    public struct BadDocument: Error, Sendable, Hashable {
        /// From 1.
        public let line: Int
        /// Why, in one sentence.
        public let reason: String
    }

    /// What happened.
    public struct Summary: Sendable, Hashable {
        /// Documents that went in.
        public let inserted: Int
        /// Documents that were left out.
        public let refused: Int
    }

    /// What to do and whom to tell.
    public struct Options: Sendable {
        /// Leave bad documents out instead of undoing all.
        public var keepsGoing: Bool
        /// Called after each batch with the number of documents so far.
        public var progress: @Sendable (Int) -> Void
        /// Called for each document that is left out.
        public var report: @Sendable (BadDocument) -> Void

        /// Options with their defaults: all or nothing, and silence.
        public init(
            keepsGoing: Bool = false,
            progress: @escaping @Sendable (Int) -> Void = { _ in },
            report: @escaping @Sendable (BadDocument) -> Void = { _ in }
        ) {
            self.keepsGoing = keepsGoing
            self.progress = progress
            self.report = report
        }
    }

    let database: Database
    let data: DataService

    /// An import into a database through its data service.
    public init(database: Database, data: DataService) {
        self.database = database
        self.data = data
    }

    /// A collection, for documents that go in within a transaction of somebody else's.
    struct Place: Sendable {
        let call: DataCall
        let layout: CollectionLayout

        /// Inserts one document; it gets an `_id` when it has none.
        func insert(_ document: BSONDocument, _ transaction: Transaction) async throws(ServiceError) {
            let prepared = call.prepared(document)
            let key = try TypedKey.text(prepared.id)
            let row = try await call.row(prepared.document, key: key, layout)
            _ = try await transaction.run(call.compiler(layout).insert([row]), plan: .custom)
        }
    }

    /// The collection is made when it is not there.
    func place(in namespace: Namespace) async throws(ServiceError) -> Place {
        let call = DataCall(
            service: data,
            namespace: namespace,
            prepared: .system,
            deadline: .now + .seconds(86_400),
            now: data.now(),
            trace: nil,
            authorize: DataCall.nowhereElse
        )
        return Place(call: call, layout: try await call.ensureLayout())
    }

    /// Imports everything that `read` gives.
    ///
    /// - Parameters:
    ///   - namespace: Where to; the collection is made when it is not there.
    ///   - options: What to do with bad documents, and whom to tell.
    ///   - read: The next bytes, nil at the end. Called on the caller's task.
    /// - Returns: How many went in.
    /// - Throws: ``ServiceError`` `badRequest` with the line in `details["line"]` for a bad document, unless told to keep
    ///   going; nothing is inserted then.
    public func run(
        into namespace: Namespace,
        options: Options = Options(),
        read: @Sendable () throws -> [UInt8]?
    ) async throws(ServiceError) -> Summary {
        let place = try await place(in: namespace)
        let (call, layout) = (place.call, place.layout)
        do {
            if options.keepsGoing {
                var run = DocumentImportRun(call: call, layout: layout, options: options)
                return try await run.all(read) { rows in
                    try await database.transaction(deadline: call.deadline) { transaction in
                        try await transaction.run(call.compiler(layout).insert(rows), plan: .custom).int(0, 0)
                            ?? 0
                    }
                }
            }
            return try await database.transaction(deadline: call.deadline) { transaction in
                var run = DocumentImportRun(call: call, layout: layout, options: options)
                return try await run.all(read) { rows in
                    try await transaction.run(call.compiler(layout).insert(rows), plan: .custom).int(0, 0)
                        ?? 0
                }
            }
        } catch let error as ServiceError {
            throw call.named(error)
        } catch let bad as BadDocument {
            throw ServiceError(
                .badRequest,
                "line \(bad.line): \(bad.reason); nothing was imported",
                details: ["line": "\(bad.line)"]
            )
        } catch {
            throw ServiceError(.badRequest, "the file could not be read: \(error)", cause: error)
        }
    }
}

/// One import under way: what has been read and is not inserted yet.
struct DocumentImportRun {
    private struct Entry {
        let row: NewRow
        let id: BSONValue
        let line: Int
    }

    /// A statement holds at most this many documents, and about this many bytes.
    private static let batchDocuments = 1000
    private static let batchBytes = 4 << 20

    let call: DataCall
    let layout: CollectionLayout
    let options: DocumentImport.Options
    private var splitter = DocumentSplitter()
    private var batch: [Entry] = []
    private var batchKeys: Set<[UInt8]> = []
    private var bytes = 0
    private var inserted = 0
    private var refused = 0

    init(call: DataCall, layout: CollectionLayout, options: DocumentImport.Options) {
        self.call = call
        self.layout = layout
        self.options = options
    }

    /// Reads to the end.
    ///
    /// - Parameters:
    ///   - read: The next bytes, nil at the end.
    ///   - insert: Inserts rows up to the first whose key is taken, and says how many.
    /// - Returns: How many went in.
    /// - Throws: ``DocumentImport/BadDocument``, and what reading and inserting throw.
    mutating func all(
        _ read: () throws -> [UInt8]?,
        insert: ([NewRow]) async throws -> Int
    ) async throws -> DocumentImport.Summary {
        while let chunk = try read() {
            splitter.append(chunk)
            try await drain(insert)
        }
        splitter.finish()
        try await drain(insert)
        try await flush(insert)
        return DocumentImport.Summary(inserted: inserted, refused: refused)
    }

    private mutating func drain(_ insert: ([NewRow]) async throws -> Int) async throws {
        while let piece = splitter.next() {
            switch piece {
            case .broken(let line, let reason): try refuse(line, reason)
            case .document(let text, let line): try await take(text, line, insert)
            }
        }
    }

    private mutating func take(
        _ text: [UInt8],
        _ line: Int,
        _ insert: ([NewRow]) async throws -> Int
    ) async throws {
        let prepared: (document: BSONDocument, id: BSONValue)
        let key: String
        let row: NewRow
        do throws(ServiceError) {
            prepared = call.prepared(try ExtendedJSON.readDocument(text))
            key = try TypedKey.text(prepared.id)
            row = try await call.row(prepared.document, key: key, layout)
        } catch {
            // A database that is gone is no fault of the line.
            guard error.postgresFailure == nil, error.code != .maintenanceInProgress else { throw error }
            try refuse(line, error.message)
            return
        }
        guard batchKeys.insert(Array(key.utf8)).inserted else {
            try refuse(line, call.duplicate(prepared.id).message)
            return
        }
        batch.append(Entry(row: row, id: prepared.id, line: line))
        bytes += row.document.count
        if batch.count >= Self.batchDocuments || bytes >= Self.batchBytes { try await flush(insert) }
    }

    private mutating func flush(_ insert: ([NewRow]) async throws -> Int) async throws {
        var rest = batch[...]
        while !rest.isEmpty {
            let done = try await insert(rest.map(\.row))
            inserted += done
            rest = rest.dropFirst(done)
            // The statement stops at a key that is taken.
            if let taken = rest.popFirst() { try refuse(taken.line, call.duplicate(taken.id).message) }
        }
        batch = []
        batchKeys = []
        bytes = 0
        options.progress(inserted)
    }

    private mutating func refuse(_ line: Int, _ reason: String) throws {
        let bad = DocumentImport.BadDocument(line: line, reason: reason)
        guard options.keepsGoing else { throw bad }
        refused += 1
        options.report(bad)
    }
}
