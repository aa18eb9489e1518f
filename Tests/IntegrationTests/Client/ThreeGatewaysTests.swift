import Foundation
import TestSupport
import Testing

@Suite("Two users on three gateways", .serialized)
struct ThreeGatewaysTests {
    private func refresh(_ api: APICaller, _ token: String) async throws -> APICaller.Answer {
        try await api.send(
            "POST",
            "/api/client/v2.0/auth/session",
            headers: ["Authorization": "Bearer \(token)"]
        )
    }

    /// A login; the gateway may ask to come again when too many passwords are being checked.
    private func logIn(_ api: APICaller, _ user: APICaller.User) async throws -> APICaller.User {
        while true {
            do {
                return try await api.logIn(email: user.email, password: user.password)
            } catch let error as APICaller.UnexpectedAnswer where error.answer.status == 429 {
                #expect(error.answer.header("Retry-After") != nil)
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    @Test("keep every session and every event, through 200 logins, refreshes and watches at once")
    func together() async throws {
        let shared = try await SharedServer.caller()
        let servers = [
            shared.server, try await RunningServer.start(besides: shared.server, name: "three-a"),
            try await RunningServer.start(besides: shared.server, name: "three-b"),
        ]
        let apis = servers.map { APICaller(server: $0, app: shared.app) }
        let users = [try await shared.newPasswordUser(), try await shared.newPasswordUser()]
        let calls = users.map { ServiceCall(api: shared, user: $0, collection: "Item") }
        let documents = 40

        // 24 watches, half of which go and come back on another gateway after each few events.
        var steady: [(owner: Int, watch: WatchClient)] = []
        for index in 0..<12 {
            steady.append((index % 2, try await calls[index % 2].watch(by: apis[index % 3])))
        }
        var restless: [(owner: Int, watch: WatchClient)] = []
        for index in 0..<12 {
            restless.append((index % 2, try await calls[index % 2].watch(by: apis[(index + 1) % 3])))
        }
        let sessions = try await withThrowingTaskGroup(of: [String].self) { group in
            // 152 refreshes and 24 logins, at once.
            for index in 0..<152 {
                group.addTask {
                    let answer = try await refresh(apis[index % 3], users[index % 2].refreshToken)
                    #expect(answer.status == 201, "\(answer.text)")
                    let token = answer.object["access_token"] as? String ?? ""
                    let profile = try await apis[(index + 1) % 3].send(
                        "GET",
                        "/api/client/v2.0/auth/profile",
                        headers: ["Authorization": "Bearer \(token)"]
                    )
                    #expect(profile.status == 200, "\(profile.text)")
                    return []
                }
            }
            for index in 0..<24 {
                group.addTask { [try await logIn(apis[index % 3], users[index % 2]).refreshToken] }
            }
            // Meanwhile both write.
            for owner in 0..<2 {
                group.addTask {
                    for n in 0..<documents {
                        let answer = try await apis[n % 3].act(
                            "insertOne",
                            "Item",
                            #""document":{"ownerId":"\#(users[owner].id)","n":{"$numberInt":"\#(n)"},"secret":"of-\#(users[owner].id)"}"#,
                            as: users[owner].bearer
                        )
                        #expect(answer.status == 201, "\(answer.text)")
                    }
                    return []
                }
            }
            for (index, entry) in restless.enumerated() {
                group.addTask {
                    let seen = try await readInPieces(
                        calls[entry.owner],
                        entry.watch,
                        apis,
                        from: index,
                        documents
                    )
                    #expect(seen == Array(0..<documents))
                    return []
                }
            }
            var tokens: [String] = []
            for try await part in group { tokens += part }
            return tokens
        }
        for (owner, watch) in steady {
            try await watch.has(documents)
            #expect(watch.numbers == Array(0..<documents))
            #expect(Set(watch.tokens).count == documents)
            #expect(!watch.text.contains("of-\(users[1 - owner].id)"))
        }
        // No session is lost.
        #expect(sessions.count == 24)
        for (index, token) in (sessions + users.map(\.refreshToken)).enumerated() {
            #expect(try await refresh(apis[index % 3], token).status == 201)
        }
        for server in servers.dropFirst() { server.stop() }
    }

    /// Reads a few events, goes, and comes back behind the last one, elsewhere.
    ///
    /// - Returns: The numbers of the documents, in the order of their events.
    private func readInPieces(
        _ call: ServiceCall,
        _ first: WatchClient,
        _ apis: [APICaller],
        from start: Int,
        _ count: Int
    ) async throws -> [Int] {
        var watch = first
        var seen: [Int] = []
        var round = start
        while true {
            let wanted = min(11, count - seen.count)
            try await eventually { watch.numbers.count >= wanted || watch.isOver }
            // Read once: more may come at any moment.
            let events = watch.objects
            watch.stop()
            seen += events.compactMap(WatchClient.number)
            let last = (events.last?["_id"] as? [String: Any])?["_data"] as? String
            guard seen.count < count, let last else { return seen }
            round += 1
            watch = try await call.watch(#""resumeAfter":{"_data":"\#(last)"}"#, by: apis[round % 3])
        }
    }
}
