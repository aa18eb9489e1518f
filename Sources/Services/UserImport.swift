import Accounts
import BSON
public import Errors
import MQL
public import Postgres
import SQL

/// Users of another server, with their ids, from a file.
///
/// The file is a stream: one Extended JSON document per line, or one JSON array. All of it goes in within one
/// transaction, or nothing; told to keep going, each user is a transaction of its own and bad ones are left out.
/// What a user may hold is `tidegate.import_user`'s to decide; only custom user data is a document like any other,
/// and keeps its types.
public struct UserImport: Sendable {
    /// What happened.
    public struct Summary: Sendable, Hashable {
        /// Users who are there now.
        public var imported = 0
        /// Users who were left out.
        public var refused = 0
    }

    private let database: Database
    private let data: DataService
    private let app: AppSnapshot

    /// An import into an app.
    public init(database: Database, data: DataService, app: AppSnapshot) {
        self.database = database
        self.data = data
        self.app = app
    }

    /// Imports everything that `read` gives.
    ///
    /// - Parameters:
    ///   - keepsGoing: Leave bad users out instead of undoing all.
    ///   - report: Called for each user who is left out.
    ///   - read: The next bytes, nil at the end. Called on the caller's task.
    /// - Returns: How many are there now.
    /// - Throws: ``ServiceError`` `badRequest` with the line in `details["line"]` for a bad user, unless told to keep
    ///   going; nobody is imported then.
    public func run(
        keepsGoing: Bool = false,
        report: (DocumentImport.BadDocument) -> Void = { _ in },
        read: () throws -> [UInt8]?
    ) async throws(ServiceError) -> Summary {
        do {
            let place = try await customDataPlace()
            if keepsGoing {
                var summary = Summary()
                try await each(read) { piece in
                    do {
                        try await database.transaction { transaction in
                            try await take(piece, place, transaction)
                        }
                        summary.imported += 1
                    } catch let bad as DocumentImport.BadDocument {
                        summary.refused += 1
                        report(bad)
                    }
                }
                return summary
            }
            return try await database.transaction(within: .seconds(86_400)) { transaction in
                var summary = Summary()
                try await each(read) { piece in
                    try await take(piece, place, transaction)
                    summary.imported += 1
                }
                return summary
            }
        } catch let error as ServiceError {
            throw error
        } catch let bad as DocumentImport.BadDocument {
            throw ServiceError(
                .badRequest,
                "line \(bad.line): \(bad.reason); nobody was imported",
                details: ["line": "\(bad.line)"]
            )
        } catch {
            throw ServiceError(.badRequest, "the file could not be read: \(error)", cause: error)
        }
    }

    private func each(
        _ read: () throws -> [UInt8]?,
        _ body: (DocumentSplitter.Piece) async throws -> Void
    ) async throws {
        var splitter = DocumentSplitter()
        while let chunk = try read() {
            splitter.append(chunk)
            while let piece = splitter.next() { try await body(piece) }
        }
        splitter.finish()
        while let piece = splitter.next() { try await body(piece) }
    }

    /// Where custom user data goes, in an app that keeps such documents.
    private func customDataPlace() async throws(ServiceError) -> DocumentImport.Place? {
        guard let configuration = app.accounts.customUserData else { return nil }
        return try await DocumentImport(database: database, data: data).place(
            in: Namespace(
                dataSource: configuration.serviceName ?? "",
                database: configuration.databaseName,
                collection: configuration.collectionName
            )
        )
    }

    private func take(
        _ piece: DocumentSplitter.Piece,
        _ place: DocumentImport.Place?,
        _ transaction: Transaction
    ) async throws {
        guard case .document(let text, let line) = piece else {
            guard case .broken(let line, let reason) = piece else { return }
            throw DocumentImport.BadDocument(line: line, reason: reason)
        }
        do throws(ServiceError) {
            var user = try ExtendedJSON.readDocument(text)
            var custom: BSONDocument?
            if place != nil, case .document(let document)? = user["custom_data"] {
                custom = document
                user["custom_data"] = .null
            }
            let rows = try await transaction.run(
                """
                SELECT tidegate.import_user(\(bind: .text(app.id)), \
                \(bind: .text(ExtendedJSON.relaxed(user))))
                """
            )
            if let place, let custom, !custom.isEmpty, let id = rows.text(0, 0) {
                try await store(custom, of: id, place, transaction)
            }
        } catch {
            // What the line says is at fault, or what is there already; anything else ends the import.
            let state = error.postgresFailure?.sqlState.code
            guard state == nil || state?.hasPrefix("22") == true || state == "23505",
                error.code != .maintenanceInProgress
            else { throw error }
            throw DocumentImport.BadDocument(
                line: line,
                reason: error.postgresFailure?.message ?? error.message
            )
        }
    }

    /// Inserts the document, unless the collection was imported before with the document in it.
    private func store(
        _ document: BSONDocument,
        of userID: String,
        _ place: DocumentImport.Place,
        _ transaction: Transaction
    ) async throws(ServiceError) {
        guard let configuration = app.accounts.customUserData,
            try await data.customUserData(of: userID, appID: app.id, configuration) == nil
        else { return }
        var document = document
        document[configuration.userIDField] = .string(userID)
        try await place.insert(document, transaction)
    }
}
