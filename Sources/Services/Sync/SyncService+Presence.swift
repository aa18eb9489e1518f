import Accounts
import AppDefinition
import Errors
import Postgres
import SQL
public import Sync
import Synchronization

// Who is connected, and what ends it from outside: users who go, tokens that expire, files that are open elsewhere,
// resets that an operator asks for.
extension SyncService {
    /// How often the gateway says that it lives; less than half of what makes others doubt it.
    private static let beat = Duration.seconds(3)

    // MARK: Connections

    /// A device has connected.
    ///
    /// - Parameters:
    ///   - caller: Whose it is.
    ///   - tell: Called when there is something to look at.
    /// - Returns: The connection; ``left(_:)`` is due at its end.
    public func arrived(_ caller: SyncCaller, tell: @escaping @Sendable () -> Void) -> SyncPresence {
        let presence = SyncPresence(id: nextID(), caller: caller, tell: tell)
        state.withLock { $0.connections[presence.id] = presence }
        return presence
    }

    /// A device has gone.
    public func left(_ presence: SyncPresence) {
        state.withLock { $0.connections[presence.id] = nil }
    }

    /// An error ends a connection.
    public func failed(_ caller: SyncCaller, _ fault: SyncFault) { log.failed(caller, fault) }

    private var connections: [SyncPresence] { state.withLock { Array($0.connections.values) } }

    // MARK: Files

    /// Opens a file for a session: in this gateway, then among all.
    ///
    /// A device whose connection died in silence is not kept out by it for ever.
    ///
    /// - Throws: ``SyncFault`` with `boundInOtherSession`.
    func take(_ file: SyncFileKey, for lease: SyncLease) async throws {
        let other = state.withLock { state -> SyncLease? in
            if let other = state.files[file], other !== lease, !other.presence.isSilent { return other }
            let before = state.files.updateValue(lease, forKey: file)
            before.flatMap { $0 === lease ? nil : $0 }?.interrupt(Self.takenOver)
            return nil
        }
        let refusal = SyncFault(.boundInOtherSession, "Client file bound in other session (IDENT)")
        guard other == nil else { throw refusal }
        let claim = SyncStatements.claim(
            file,
            holder: holder(lease),
            gateway: gateway,
            protocolVersion: lease.presence.caller.protocolVersion
        )
        do {
            guard try await run(claim).bool(0, 0) == true else {
                leave(file, lease)
                throw refusal
            }
        } catch let error as ServiceError {
            // It may be open all the same.
            await release(file, lease)
            throw error
        }
    }

    private func holder(_ lease: SyncLease) -> String { "\(gateway)-\(lease.id)" }

    private static let takenOver = SyncFault(
        .sessionClosed,
        "Session closed: the file was opened in another session"
    )

    private func leave(_ file: SyncFileKey, _ lease: SyncLease) {
        state.withLock { state in if state.files[file] === lease { state.files[file] = nil } }
    }

    /// Closes a file, here at once, and for other gateways as soon as the database can be told.
    func release(_ file: SyncFileKey, _ lease: SyncLease) async {
        leave(file, lease)
        let holder = holder(lease)
        state.withLock { $0.unreleased[holder] = file }
        // When that fails, it is done again: until then the device can go on nowhere else.
        _ = await hasReleased(file, holder)
    }

    private func hasReleased(_ file: SyncFileKey, _ holder: String) async -> Bool {
        guard (try? await run(SyncStatements.release(file, holder: holder))) != nil else { return false }
        state.withLock { $0.unreleased[holder] = nil }
        return true
    }

    /// Closes what could not be closed when it was due.
    private func releaseAgain(_ isConcerned: (SyncFileKey) -> Bool = { _ in true }) async {
        for (holder, file) in state.withLock({ $0.unreleased }) where isConcerned(file) {
            guard await hasReleased(file, holder) else { return }
        }
    }

    /// `reset:<app>:<file>` by an operator, `probe:<app>:<file>` by a device that wants the file.
    func heardOfFile(_ payload: String) async {
        let parts = payload.split(separator: ":")
        guard parts.count == 3, let ident = Int64(parts[2]) else { return }
        let key = SyncFileKey(app: String(parts[1]), ident: ident)
        guard let lease = state.withLock({ $0.files[key] }) else {
            return await releaseAgain { $0 == key }
        }
        switch parts[0] {
        case "reset": lease.interrupt(SyncFiles.mustReset("an operator has asked for it"))
        case "probe": if lease.presence.isSilent { lease.interrupt(Self.takenOver) }
        default: break
        }
    }

    // MARK: Users

    /// Something about a user has changed: `<app>:<user>`.
    func heardOfUser(_ payload: String) async {
        await checkSessions { "\($0.app):\($0.token.userID)" == payload }
        for lease in leases
        where "\(lease.presence.caller.app):\(lease.presence.caller.token.userID)" == payload {
            lease.recheck(.user)
        }
    }

    /// Ends the connections of users who are gone or disabled, and of logins that have ended.
    func checkSessions(_ isConcerned: (SyncCaller) -> Bool) async {
        let concerned = connections.filter { isConcerned($0.caller) }
        if concerned.isEmpty { return }
        do {
            let rows = try await run(SyncStatements.standing(concerned.map(\.caller.token)))
            for row in 0..<rows.rowCount {
                guard let place = rows.int(row, 0), concerned.indices.contains(place) else { continue }
                concerned[place].end(rows.bool(row, 1) == true ? .renewToken : .logOut)
            }
        } catch {
            // Done again within a minute.
            report(error)
        }
    }

    // MARK: Time

    /// Signs of life, tokens that expire, and what a notification might have been lost about.
    func tick() async {
        var beats = 0
        while !Task.isCancelled {
            await keepAlive(isFirst: beats == 0)
            await releaseAgain()
            let seconds = now() / 1000
            for presence in connections where presence.caller.token.expiresAt <= seconds {
                presence.end(.renewToken)
            }
            for lease in leases where lease.isDue { lease.wake() }
            beats += 1
            if beats.isMultiple(of: 20) { await checkSessions { _ in true } }
            try? await Task.sleep(for: Self.beat)
        }
    }

    private func keepAlive(isFirst: Bool) async {
        do {
            let rows = try await run(SyncStatements.keepGateway(gateway))
            guard rows.bool(0, 0) != true, !isFirst else { return }
            // Others took this gateway for dead, and may have opened the files of its devices.
            for lease in leases { lease.interrupt(Self.takenOver) }
        } catch {
            // That the database is away, the pool says.
            if error.code != .maintenanceInProgress { report(error) }
        }
    }

    /// Forgets old history, each hour.
    func trim() async {
        while !Task.isCancelled {
            for app in apps.apps where app.definition.sync?.maxOfflineDays != nil {
                do {
                    while try await run(SyncStatements.trim(app.id)).int(0, 0) == SyncStatements.trimmedAtOnce
                    {}
                } catch {
                    report(error)
                }
            }
            try? await Task.sleep(for: .seconds(3600))
        }
    }
}
