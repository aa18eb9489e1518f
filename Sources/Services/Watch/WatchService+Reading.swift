import Errors
import Postgres
import SQL

extension WatchService {
    /// Has the collection's changes logged, and finds out from where on they are events.
    func begin(_ inbox: WatchInbox, _ token: ResumeToken?) async throws(ServiceError) -> WatchStart {
        let (collection, since) = try await beginLogging(inbox)
        if let collection { inbox.found(collection, feed) }
        // What the feed has read by now had been committed before: nothing of it is an event.
        let position = feed.position
        let state = try await log.state()
        guard let token else {
            return WatchStart(log: state.id, place: position ?? 0, ended: state.ended)
        }
        guard token.log == state.id else { throw ResumeToken.lost }
        guard token.collection == collection else {
            throw .mongo(260, "the resume token is one of another collection, or of one that was dropped")
        }
        guard token.sequence >= since, token.sequence >= state.trimmedTo else { throw ResumeToken.lost }
        return WatchStart(log: state.id, place: token.sequence, ended: nil)
    }

    /// Whoever writes at this moment is waited for, a second at a time so that others are not held up for long.
    private func beginLogging(
        _ inbox: WatchInbox
    ) async throws(ServiceError) -> (collection: Int32?, since: Int64) {
        var attempt = 1
        while true {
            do {
                let rows = try await log.run(
                    WatchStatements.begin(database: inbox.database, collection: inbox.collectionName)
                )
                return try Self.readBegin(rows, inbox)
            } catch {
                guard error.postgresFailure?.sqlState == .lockNotAvailable, attempt < 10 else { throw error }
                attempt += 1
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private static func readBegin(
        _ rows: ResultSet,
        _ inbox: WatchInbox
    ) throws(ServiceError) -> (collection: Int32?, since: Int64) {
        switch rows.rowCount > 0 ? rows.text(0, 0) : nil {
        case "ready"?:
            return (rows.int(0, 1).flatMap { Int32(exactly: $0) }, Int64(rows.int(0, 2) ?? 0))
        case "mapped"?:
            throw .mongo(
                166,
                "Namespace \(known: inbox.database).\(known: inbox.collectionName) is a mapped relation, whose changes are not logged"
            )
        case "full"?:
            throw ServiceError(
                .maintenanceInProgress,
                "too many collections that do not exist are being watched"
            )
        default: throw ServiceError(.internalServerError, "begin_watch has another outcome")
        }
    }

    /// The next changes for a watch; nil when there are none.
    func next(_ cursor: inout Cursor, of inbox: WatchInbox) async throws(ServiceError) -> [ChangeRecord]? {
        guard let collection = inbox.collection,
            let page = try await changes(of: collection, after: cursor.place, beginning: cursor.ended)
        else { return nil }
        cursor.place = page.through
        guard let ended = cursor.ended else { return page.changes }
        return page.changes.filter { !ended.includes($0.transaction) }
    }

    /// The next changes of a collection that the feed follows, and the place up to which they are complete.
    ///
    /// - Parameters:
    ///   - collection: Which one.
    ///   - place: Behind which to begin.
    ///   - snapshot: For a reader from the log's beginning: the transactions that had ended when it began.
    /// - Returns: nil when nothing is decided behind that place.
    /// - Throws: ``ResumeToken/lost`` where changes behind the place have been trimmed.
    func changes(
        of collection: Int32,
        after place: Int64,
        beginning snapshot: TransactionSnapshot? = nil
    ) async throws(ServiceError) -> (changes: [ChangeRecord], through: Int64)? {
        switch feed.page(collection, after: place) {
        case .nothing: return nil
        case .changes(let changes, let through): return (changes, through)
        case .behind(let end):
            let page = try await log.page(
                of: [collection],
                after: place,
                through: end,
                since: place == 0 ? snapshot?.oldestRunning : nil
            )
            // Asked afterwards: what was trimmed before or while the page was read is known now.
            if snapshot == nil, try await log.state().trimmedTo > place { throw ResumeToken.lost }
            return page
        }
    }
}

extension SQLState {
    /// 55P03: a lock was not to be had within `lock_timeout`.
    static let lockNotAvailable = SQLState("55P03")
}
