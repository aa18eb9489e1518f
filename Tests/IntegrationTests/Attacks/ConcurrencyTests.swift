import Foundation
import TestSupport
import Testing

/// Fifty at once where one may win; `peers.md` §6.2, "single-use secrets under concurrency".
@Suite("Attack: fifty at once", .serialized)
struct ConcurrencyTests {
    private static let crowd = 50

    private static func together(_ request: @escaping @Sendable (Int) async throws -> APICaller.Answer)
        async throws
        -> [APICaller.Answer]
    {
        try await withThrowingTaskGroup(of: APICaller.Answer.self) { group in
            for number in 0..<crowd { group.addTask { try await request(number) } }
            var answers: [APICaller.Answer] = []
            for try await answer in group { answers.append(answer) }
            return answers
        }
    }

    @Test("one of fifty registrations of an email succeeds, and makes one user")
    func registrations() async throws {
        let api = try await AttackApp.caller()
        let email = "race-\(UUID().uuidString)@example.com"
        let answers = try await Self.together { number in
            try await api.send(
                "POST",
                "/api/client/v2.0/app/\(api.app)/auth/providers/local-userpass/register",
                headers: ["Content-Type": "application/json"],
                body: Data(#"{"email":"\#(email)","password":"password-\#(number)"}"#.utf8)
            )
        }
        #expect(answers.filter { $0.status == 201 }.count == 1)
        // Taken, or shed: nothing else.
        #expect(answers.allSatisfy { [201, 409, 429].contains($0.status) }, "\(Set(answers.map(\.status)))")
        #expect(
            try await AttackApp.sql(
                "select count(*) from tidegate.password_hashes where username = '\(email)'"
            ) == "1"
        )
    }

    @Test("no refresh token works once its session ended, fifty times at once")
    func refreshAfterLogout() async throws {
        let (api, user) = try await AttackApp.user()
        let refresh = ["Authorization": "Bearer \(user.refreshToken)"]
        let before = try await Self.together { _ in
            try await api.send("POST", "/api/client/v2.0/auth/session", headers: refresh)
        }
        #expect(before.allSatisfy { $0.status == 201 })
        let logouts = try await Self.together { _ in
            try await api.send("DELETE", "/api/client/v2.0/auth/session", headers: refresh)
        }
        #expect(logouts.contains { $0.status == 204 })
        let after = try await Self.together { _ in
            try await api.send("POST", "/api/client/v2.0/auth/session", headers: refresh)
        }
        #expect(after.allSatisfy { $0.status == 401 }, "\(Set(after.map(\.status)))")
    }

    @Test("one of fifty inserts, upserts and claims of a document succeeds")
    func documents() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        let inserts = try await Self.together { number in
            try await api.attack(
                "insertOne",
                "Open",
                #""document":{"_id":"\#(id)","by":\#(number)}"#,
                as: user.bearer
            )
        }
        #expect(inserts.filter { $0.status == 201 }.count == 1)
        #expect(
            inserts.filter { $0.status == 400 && $0.object["code"] as? Int == 11000 }.count == Self.crowd - 1
        )
        let upserts = try await Self.together { _ in
            try await api.attack(
                "updateOne",
                "Open",
                #""filter":{"_id":"up-\#(id)"},"update":{"$inc":{"n":1}},"upsert":true"#,
                as: user.bearer
            )
        }
        #expect(upserts.filter { $0.object["upsertedId"] != nil }.count == 1)
        #expect(upserts.allSatisfy { $0.status == 200 || $0.status == 201 }, "\(Set(upserts.map(\.status)))")
        let counted = try await api.attack(
            "findOne",
            "Open",
            #""filter":{"_id":"up-\#(id)"}"#,
            as: user.bearer
        )
        #expect((counted.object["document"] as? [String: Any])?["n"] as? Int == Self.crowd)
        // A coupon: whoever finds it unused takes it.
        _ = try await api.attack(
            "insertOne",
            "Open",
            #""document":{"_id":"coupon-\#(id)","used":false}"#,
            as: user.bearer
        )
        for changes in [#"{"$set":{"used":true}}"#, #"[{"$set":{"used":true}}]"#] {
            _ = try await api.attack(
                "updateOne",
                "Open",
                #""filter":{"_id":"coupon-\#(id)"},"update":{"$set":{"used":false}}"#,
                as: user.bearer
            )
            let claims = try await Self.together { _ in
                try await api.attack(
                    "updateOne",
                    "Open",
                    #""filter":{"_id":"coupon-\#(id)","used":false},"update":\#(changes)"#,
                    as: user.bearer
                )
            }
            let winners = claims.filter { $0.text.contains(#""modifiedCount":1"#) }.count
            #expect(winners == 1, "\(changes): \(winners)")
        }
    }
}
