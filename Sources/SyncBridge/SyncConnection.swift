import NIOCore
import Services
import Sync
import Synchronization

/// Serves the sessions of one connection, message by message.
///
/// Source: `realm-sync-protocol.md` §§2–4.
struct SyncConnection: Sendable {
    let door: SyncDoor
    let caller: SyncCaller
    let socket: SyncSocket
    let events: AsyncStream<SyncEvent>
    let arrived: AsyncStream<SyncEvent>.Continuation

    /// A device has a session per open file, and one more while a file resets.
    static let mostSessions = 200

    /// The sessions of the connection, which one task at a time has.
    private final class Sessions {
        var open: [SessionIdent: SyncConversation] = [:]
        /// Those that ended by an error and were not unbound yet.
        var failed: Set<SessionIdent> = []
    }

    /// Serves until the socket closes.
    func run() async {
        let parser = ClientMessageParser(isFlexible: caller.isFlexible)
        let bell = SyncBell(arrived)
        let presence = door.sync.arrived(caller) { bell.ring() }
        let sessions = Sessions()
        for await event in events {
            if let closure = presence.closure {
                await socket.close(closure.rawValue)
                arrived.finish()
                break
            }
            switch event {
            case .history:
                bell.hasRung()
                await apart {
                    for session in sessions.open.keys {
                        await attempt(session, sessions) { try await $0.advance() }
                    }
                }
            case .message(let bytes):
                presence.heard()
                await apart {
                    do {
                        try await serve(try parser.parse(bytes), presence, bell, sessions)
                    } catch {
                        await end(error)
                    }
                }
                socket.served(bytes.count)
            }
        }
        for conversation in sessions.open.values { await conversation.close() }
        door.sync.left(presence)
    }

    /// Runs in a task of its own, and waits for it.
    ///
    /// A task keeps the memory that its deepest call needed for as long as it lives, and that of a connection lives for
    /// days: 35 KB for each that has had a bootstrap.
    private func apart(_ body: @escaping () async -> Void) async {
        // Nobody else has what it uses until it is done.
        nonisolated(unsafe) let body = body
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            await group.next()
        }
    }

    private func serve(
        _ message: ClientMessage,
        _ presence: SyncPresence,
        _ bell: SyncBell,
        _ sessions: Sessions
    ) async throws {
        switch message {
        case .ping(let timestamp): try await socket.send(ServerMessage.pong(timestamp: timestamp))
        case .bind(let session, let bind):
            guard sessions.open[session] == nil, !sessions.failed.contains(session) else {
                throw SyncFault(.reuseOfSessionIdent, "Overlapping reuse of session identifier (BIND)")
            }
            guard sessions.open.count + sessions.failed.count < Self.mostSessions else {
                throw SyncFault(.otherError, "there are too many sessions on this connection")
            }
            sessions.open[session] = SyncConversation(
                door.sync,
                presence,
                session: session,
                tell: { bell.ring() },
                send: { try await socket.send($0) }
            )
            await attempt(session, sessions) { try await $0.bind(bind) }
        case .unbind(let session):
            if sessions.failed.remove(session) == nil {
                guard let conversation = sessions.open.removeValue(forKey: session) else {
                    throw Self.unknown(session)
                }
                await conversation.close()
                try await socket.send(ServerMessage.unbound(session))
            }
        case .ident(let session, let ident):
            try await pass(session, sessions) { try await $0.ident(ident) }
        case .query(let session, let query):
            try await pass(session, sessions) { try await $0.query(query) }
        case .upload(let session, let upload):
            try await pass(session, sessions) { try await $0.upload(upload) }
        case .mark(let session, let request):
            try await pass(session, sessions) { try await $0.mark(request: request) }
        case .error(nil, let code, let message):
            throw SyncFault(.otherError, "the device ended the connection: \(code) \(message)")
        case .error(let session?, let code, let message):
            try await pass(session, sessions) { throw $0.failed(code: code, message: message) }
        case .testCommand(let session, let request, _):
            try await socket.send(ServerMessage.testCommand(session, request: request, body: "{}"))
        }
    }

    /// Hands a message to its session; one for a session that an error has ended is left alone.
    private func pass(
        _ session: SessionIdent,
        _ sessions: Sessions,
        _ body: (SyncConversation) async throws -> Void
    ) async throws {
        if sessions.failed.contains(session) { return }
        guard sessions.open[session] != nil else { throw Self.unknown(session) }
        await attempt(session, sessions, body)
    }

    private static func unknown(_ session: SessionIdent) -> SyncFault {
        SyncFault(.badSessionIdent, "The server has forgotten about session \(session.number)")
    }

    private func attempt(
        _ session: SessionIdent,
        _ sessions: Sessions,
        _ body: (SyncConversation) async throws -> Void
    ) async {
        guard let conversation = sessions.open[session] else { return }
        do {
            try await body(conversation)
        } catch is ChannelError {
            // The device has gone; the row of events ends with its socket.
        } catch {
            let fault = await conversation.explained(door.sync.fault(error))
            if fault.code.endsConnection {
                await end(fault)
            } else {
                sessions.open[session] = nil
                sessions.failed.insert(session)
                await conversation.close(because: fault)
                let report = SyncErrorReport(fault, forbidsRecovery: conversation.forbidsRecovery)
                try? await socket.send(ServerMessage.error(session, report))
            }
        }
    }

    /// Says why, and closes.
    private func end(_ error: any Error) async {
        if error is ChannelError { return }
        let fault = door.sync.fault(error)
        door.sync.failed(caller, fault)
        if fault.code.endsConnection {
            try? await socket.send(ServerMessage.error(nil, SyncErrorReport(fault)))
        }
        await socket.close()
        arrived.finish()
    }
}

/// Tells the connection's task that the history has grown; once, however often it rings.
final class SyncBell: Sendable {
    private let isRinging = Atomic<Bool>(false)
    private let arrived: AsyncStream<SyncEvent>.Continuation

    init(_ arrived: AsyncStream<SyncEvent>.Continuation) {
        self.arrived = arrived
    }

    func ring() {
        guard !isRinging.exchange(true, ordering: .acquiringAndReleasing) else { return }
        arrived.yield(.history)
    }

    func hasRung() { isRinging.store(false, ordering: .releasing) }
}
