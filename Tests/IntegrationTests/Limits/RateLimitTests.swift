import Foundation
import TestSupport
import Testing

@Suite("Rates of requests and of failed logins")
struct RateLimitTests {
    /// A server that believes X-Forwarded-For from this machine, so that each test has addresses of its own.
    private enum Throttled {
        private static let task = Task {
            try await RunningServer.start(
                app: TestApp.files,
                name: "throttled",
                arguments: [
                    "--trusted-proxies", "127.0.0.0/8, ::1", "--requests-per-second-per-user", "1",
                    "--request-burst-per-user", "5", "--requests-per-second-per-address", "1",
                    "--request-burst-per-address", "40", "--failed-logins-per-minute-per-address", "10",
                    "--failed-logins-per-minute-per-account", "3",
                ]
            )
        }

        static func caller() async throws -> APICaller {
            APICaller(server: try await task.value, app: TestApp.clientAppID)
        }
    }

    /// Sends copies of a request at once: more than any refill lets through while they are answered.
    private func flood(
        _ count: Int,
        _ send: @escaping @Sendable () async throws -> APICaller.Answer
    ) async throws -> [APICaller.Answer] {
        try await withThrowingTaskGroup(of: APICaller.Answer.self) { group in
            for _ in 0..<count { group.addTask { try await send() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func expectRefusal(_ answer: APICaller.Answer?, _ limit: String) throws {
        let answer = try #require(answer)
        #expect(answer.errorCode == "TooManyRequests")
        #expect(answer.error.contains("(limit \(limit))"), "\(answer.text)")
        let seconds = try #require(answer.header("retry-after").flatMap { Int($0) })
        #expect(seconds >= 1 && seconds <= 120)
    }

    @Test("a user who sends too many gets 429 with Retry-After; others do not, and later neither")
    func users() async throws {
        let api = try await Throttled.caller()
        let (greedy, other) = (try await api.newUser(), try await api.newUser())
        let answers = try await flood(60) { try await api.act("find", "Open", as: greedy.bearer) }
        #expect(answers.contains { $0.status == 200 })
        try expectRefusal(answers.first { $0.status == 429 }, "requests-per-second-per-user")
        #expect(try await api.act("find", "Open", as: other.bearer).status == 200)
        try await eventually { try await api.act("find", "Open", as: greedy.bearer).status == 200 }
    }

    @Test("the documents of an insertMany count: one request for each hundred")
    func bulk() async throws {
        let api = try await Throttled.caller()
        let user = try await api.newUser()
        let documents = (0..<2000).map { "{\"n\":\($0)}" }.joined(separator: ",")
        let members = #""documents":[\#(documents)]"#
        #expect(try await api.act("insertMany", "Open", members, as: user.bearer).status == 201)
        let next = try await api.act("find", "Open", as: user.bearer)
        try expectRefusal(next, "requests-per-second-per-user")
    }

    @Test("an address without good users is refused, and its made-up neighbours do not help it")
    func addresses() async throws {
        let api = try await Throttled.caller()
        let path = "/api/client/v2.0/app/\(api.app)/location"
        let answers = try await flood(150) {
            // What stands before the last address the client made up.
            let made = (0..<4).map { _ in String(Int.random(in: 0...255)) }.joined(separator: ".")
            return try await api.send("GET", path, headers: ["X-Forwarded-For": "\(made), 203.0.113.50"])
        }
        #expect(answers.contains { $0.status == 200 })
        try expectRefusal(answers.first { $0.status == 429 }, "requests-per-second-per-address")
        let other = try await api.send("GET", path, headers: ["X-Forwarded-For": "203.0.113.51"])
        #expect(other.status == 200)
        let health = try await api.send("GET", "/health", headers: ["X-Forwarded-For": "203.0.113.50"])
        #expect(health.status == 200)
    }

    private func tryPassword(
        _ api: APICaller,
        _ email: String,
        _ password: String,
        from address: String
    ) async throws -> APICaller.Answer {
        try await api.send(
            "POST",
            "/api/client/v2.0/app/\(api.app)/auth/providers/local-userpass/login",
            headers: ["Content-Type": "application/json", "X-Forwarded-For": address],
            body: Data(#"{"username":"\#(email)","password":"\#(password)"}"#.utf8)
        )
    }

    /// Fails until refused: several at once, since one after the other may take longer than the minute gives back.
    private func exhaust(_ api: APICaller, _ email: String, from address: String) async throws -> APICaller
        .Answer?
    {
        for _ in 0..<10 {
            let answers = try await flood(6) { try await tryPassword(api, email, "wrong", from: address) }
            if let refusal = answers.first(where: { $0.status == 429 }) { return refusal }
            #expect(answers.allSatisfy { $0.status == 401 })
        }
        return nil
    }

    @Test("guessing at an account is slowed, its owner is not locked out, and the Data API is no way round")
    func guesses() async throws {
        let api = try await Throttled.caller()
        let user = try await api.newPasswordUser()
        let refusal = try await exhaust(api, user.email, from: "198.51.100.1")
        try expectRefusal(refusal, "failed-logins-per-minute-per-account")
        // The right password does not help the guesser, nor does the other door. On a slow machine the minute
        // may have given him another guess meanwhile; then he uses that up, too.
        try await eventually {
            _ = try await exhaust(api, user.email, from: "198.51.100.1")
            return try await tryPassword(api, user.email, user.password, from: "198.51.100.1").status == 429
        }
        let door = ["email": user.email, "password": "guess", "X-Forwarded-For": "198.51.100.1"]
        try await eventually {
            _ = try await exhaust(api, user.email, from: "198.51.100.1")
            return try await api.act("find", "Open", as: door).status == 429
        }
        #expect(try await tryPassword(api, user.email, user.password, from: "198.51.100.2").status == 200)
    }

    @Test("guessing from one address is slowed, whatever it claims to be when nobody trusts it")
    func spoofed() async throws {
        let (api, _) = try await LimitedServer.user()
        var refusal: APICaller.Answer?
        for index in 0..<100 where refusal == nil {
            let caller = ["apiKey": "guess-\(index)", "X-Forwarded-For": "198.51.100.\(index)"]
            let answer = try await api.act("find", "Open", as: caller)
            if answer.status == 429 { refusal = answer } else { #expect(answer.status == 401) }
        }
        try expectRefusal(refusal, "failed-logins-per-minute-per-address")
        // A good user at the same address goes on.
        let user = try await api.newUser()
        #expect(try await api.act("find", "Open", as: user.bearer).status == 200)
    }
}
