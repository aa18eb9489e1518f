import Accounts
import BSON
import MQL
import Observability
import Sync

/// Rows of `tidegate.logs` about devices, by the hosted service's names.
///
/// Source: `reference/functions.md`, types of log entries; `sync-semantics.md` §6.5.
struct SyncLog: Sendable {
    let newID: @Sendable () -> String
    /// The app id in URLs, by internal id.
    let app: @Sendable (String) -> String?
    let take: @Sendable (RequestRecord) -> Void

    private static let route = "/api/client/v2.0/app/{appId}/realm-sync"
    /// Undone writes that one row names.
    private static let mostRejections = 100

    /// A device has said which file it is.
    func began(_ caller: SyncCaller, file: Int64) {
        write("SYNC_SESSION_START", caller) { $0.operation = "session of file \(file)" }
    }

    /// A session is over; `fault` where an error ended it.
    func ended(_ caller: SyncCaller, file: Int64?, since start: ContinuousClock.Instant, _ fault: SyncFault?)
    {
        write("SYNC_SESSION_END", caller, since: start, fault) { facts in
            facts.operation = file.map { "session of file \($0)" } ?? "session"
        }
    }

    /// An error has ended the connection.
    func failed(_ caller: SyncCaller, _ fault: SyncFault) {
        write("SYNC_ERROR", caller, fault) { $0.operation = "connection" }
    }

    /// What a device has changed is integrated.
    func wrote(
        _ caller: SyncCaller,
        file: Int64,
        changesets: Int,
        since start: ContinuousClock.Instant,
        _ rejections: [SyncErrorReport.RejectedUpdate]
    ) {
        write("SYNC_CLIENT_WRITE", caller, since: start) { facts in
            facts.mayWrite = true
            facts.operation = "upload of file \(file): \(changesets) changesets"
        }
        guard !rejections.isEmpty else { return }
        write("SYNC_ERROR", caller, since: start, SyncFault(.compensatingWrite, rejections[0].reason)) {
            facts in
            facts.operation = "upload of file \(file)"
            facts.failure = Self.text(rejections)
        }
    }

    /// Documents have come that no device can have: `{"shop.items":{"<_id>":"<why>"}}`.
    func unsynced(app: String, _ place: Namespace, _ documents: [(id: String, reason: String)]) {
        var reasons = BSONDocument()
        for document in documents.prefix(Self.mostRejections) {
            reasons[document.id] = .string(document.reason)
        }
        let trace = RequestTrace(requestID: newID(), start: .now)
        trace.note { facts in
            facts.logType = "SYNC_ERROR"
            facts.clientAppID = app
            facts.operation = "\(documents.count) unsynced documents"
            facts.errorCode = "MongoEncodingError"
            facts.failure = ExtendedJSON.relaxed(.document([place.name: .document(reasons)]))
            facts.mayWrite = true
        }
        take(trace.record(method: "GET", route: Self.route, status: 400))
    }

    /// One member per class, and in it one per key.
    private static func text(_ rejections: [SyncErrorReport.RejectedUpdate]) -> String {
        var document = BSONDocument()
        for rejection in rejections.prefix(mostRejections) {
            let table = rejection.object.table.text
            var keys = document[table]?.document ?? BSONDocument()
            keys[rejection.object.key.text()] = .string(rejection.reason)
            document[table] = .document(keys)
        }
        return ExtendedJSON.relaxed(.document(document))
    }

    private func write(
        _ type: String,
        _ caller: SyncCaller,
        since start: ContinuousClock.Instant = .now,
        _ fault: SyncFault? = nil,
        _ note: (inout RequestTrace.Facts) -> Void
    ) {
        let trace = RequestTrace(requestID: newID(), start: start)
        trace.note { facts in
            facts.logType = type
            facts.clientAppID = app(caller.app)
            facts.userID = caller.token.userID
            facts.errorCode = fault?.code.logName
            facts.reason = fault?.message
            // Begins and ends are rows like those of writes.
            facts.mayWrite = true
            note(&facts)
        }
        let isFailure = fault.map { $0.code != .sessionClosed } ?? false
        take(trace.record(method: "GET", route: Self.route, status: isFailure ? 400 : 200))
    }
}

extension SyncErrorCode {
    /// The hosted service's name for it in logs: `ErrorCompensatingWrite`.
    var logName: String {
        switch self {
        case .otherSessionError: "ErrorOtherError"
        case .userMismatch: "ErrorClientFileUserMismatch"
        default: "Error\("\(self)".prefix(1).uppercased())\("\(self)".dropFirst())"
        }
    }
}
