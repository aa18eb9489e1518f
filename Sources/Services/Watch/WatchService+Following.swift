import Accounts
import Errors
import Observability
import Postgres
import SQL

extension WatchService {
    /// Seconds between two signs of life.
    private static let heartbeatSeconds = 15

    /// Follows the database until cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow() }
            group.addTask { await self.feed.run(self.observer) { self.tell($0) } }
            group.addTask { await self.tick() }
        }
    }

    /// Wakes those whose collection has changes; nil is all.
    private func tell(_ collections: Set<Int32>?) {
        notifyOthers()
        for inbox in inboxes {
            guard let collections, let collection = inbox.collection else {
                inbox.wake()
                continue
            }
            if collections.contains(collection) || inbox.isLost { inbox.wake() }
        }
    }

    private func follow() async {
        let channels = ["tidegate_changes", "tidegate_collections", "tidegate_users"]
        for await notification in database.notifications(channels) {
            switch notification {
            case .reconnected:
                feed.wake()
                await attempt { () async throws(ServiceError) in try await self.lookAgain() }
                await attempt { () async throws(ServiceError) in try await self.checkSessions { _ in true } }
            case .received("tidegate_changes", _): feed.wake()
            case .received("tidegate_collections", _):
                await attempt { () async throws(ServiceError) in try await self.lookAgain() }
            case .received(_, let payload):
                await attempt { () async throws(ServiceError) in
                    try await self.checkSessions { "\($0.appID):\($0.userID)" == payload }
                }
            }
        }
    }

    /// What fails here is done again within a minute.
    private func attempt(_ body: () async throws(ServiceError) -> Void) async {
        do throws(ServiceError) {
            try await body()
        } catch {
            observer?.record(.internalError(error, requestID: nil))
        }
    }

    /// Collections have come or gone, perhaps some that are watched.
    private func lookAgain() async throws(ServiceError) {
        let inboxes = inboxes
        // Read once: one that learns its collection meanwhile has not been asked about.
        let asked = inboxes.compactMap { inbox in inbox.collection.map { (inbox, $0) } }
        let known = Set(asked.map(\.1))
        if !known.isEmpty {
            let rows = try await log.run(WatchStatements.present(known.sorted()))
            var names: [Int32: CollectionName] = [:]
            for row in 0..<rows.rowCount {
                guard let id = rows.int(row, 0).flatMap({ Int32(exactly: $0) }) else { continue }
                names[id] = CollectionName(
                    database: rows.text(row, 1) ?? "",
                    collection: rows.text(row, 2) ?? ""
                )
            }
            let lost = asked.filter { inbox, id in !(names[id].map(inbox.isOf) ?? false) }
            if !lost.isEmpty {
                // Whatever was changed before is read before.
                let place = try await log.horizon().end
                for (inbox, id) in lost { inbox.lose(CollectionEnd(place: place, newName: names[id])) }
                feed.wake()
            }
        }
        let waiting = inboxes.filter { $0.collection == nil }
        if waiting.isEmpty { return }
        let rows = try await log.run(
            WatchStatements.ids(of: waiting.map(\.database), waiting.map(\.collectionName))
        )
        for row in 0..<rows.rowCount {
            guard let database = rows.text(row, 0), let name = rows.text(row, 1),
                let id = rows.int(row, 2).flatMap({ Int32(exactly: $0) })
            else { continue }
            let found = CollectionName(database: database, collection: name)
            for inbox in waiting where inbox.isOf(found) { inbox.found(id, feed) }
        }
    }

    /// Ends the watches of sessions that have ended.
    private func checkSessions(_ isConcerned: (AccessToken) -> Bool) async throws(ServiceError) {
        let concerned = inboxes.filter { isConcerned($0.token) }
        if concerned.isEmpty { return }
        let rows = try await log.run(
            WatchStatements.standing(
                sessions: concerned.map(\.token.sessionID),
                issuedAt: concerned.map(\.token.issuedAt)
            )
        )
        var standing: Set<String> = []
        for row in 0..<rows.rowCount {
            standing.insert("\(rows.text(row, 0) ?? "") \(rows.text(row, 1) ?? "")")
        }
        for inbox in concerned where !standing.contains("\(inbox.token.sessionID) \(inbox.token.issuedAt)") {
            inbox.end(AccountFailure.userNotFound)
        }
    }

    /// Signs of life, sessions that end by themselves, and the log's upkeep.
    private func tick() async {
        var beats = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(Self.heartbeatSeconds))
            if Task.isCancelled { return }
            beats += 1
            let inboxes = inboxes
            for inbox in inboxes { inbox.beat() }
            if beats.isMultiple(of: 4) {
                await attempt { () async throws(ServiceError) in try await self.checkSessions { _ in true } }
                await attempt { () async throws(ServiceError) in try await self.lookAgain() }
            }
            if beats.isMultiple(of: 40), !inboxes.isEmpty {
                await attempt { () async throws(ServiceError) in
                    _ = try await self.log.run(
                        WatchStatements.keep(inboxes.map(\.database), inboxes.map(\.collectionName))
                    )
                }
            }
            if beats % 240 == 120 { await sweep() }
        }
    }

    /// Ends the logging of what nobody watches any more, and forgets old changes.
    private func sweep() async {
        await attempt { () async throws(ServiceError) in
            while try await self.log.run(WatchStatements.end(afterHours: self.limits.retentionHours))
                .bool(0, 0) == true
            {}
            _ = try await self.log.run(WatchStatements.sweep(afterHours: self.limits.retentionHours))
        }
    }
}
