import Foundation
import TestSupport
import Testing

/// What callers send, and documents hold, stays out of both logs.
@Suite("Secrets and logs")
struct SecretsInLogsTests {
    /// A new secret each time it is asked for; all are looked for in the end.
    private final class Secrets {
        private(set) var all: [String] = []
        private(set) var words: [String: String] = [:]

        func make(_ what: String) -> String {
            let secret = "hush\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
            all.append(secret)
            words[secret] = what
            return secret
        }
    }

    @Test("keeps what was sent out of tidegate.logs and standard error, even at trace")
    func nothing() async throws {
        let api = try await LoggingServer.caller()
        let user = try await api.newUser()
        let secrets = Secrets()
        var requests = headerRequests(api, user, secrets)
        requests += bodyRequests(api, user, secrets)
        requests += clientRequests(api, secrets)
        for request in requests {
            let answer = try await api.send(
                request.method,
                request.path,
                headers: request.headers,
                body: request.body.map { Data($0.utf8) }
            )
            #expect((answer.status < 400) == request.prepares, "\(request) \(answer.text)")
        }
        try await api.settle()
        let rows = try Shell.psql(api.server.database, "select l::text from tidegate.logs l")
        let log = try String(
            contentsOf: api.server.directory.appendingPathComponent("server.log"),
            encoding: .utf8
        )
        #expect(rows.contains("InvalidSession"))
        for secret in secrets.all {
            let what = secrets.words[secret] ?? ""
            let inRows = rows.split(separator: "\n").filter { $0.lowercased().contains(secret) }
            let inLog = log.split(separator: "\n").filter { $0.lowercased().contains(secret) }
            #expect(inRows.isEmpty, "\(what): \(inRows)")
            #expect(inLog.isEmpty, "\(what): \(inLog)")
        }
    }

    private struct Sent {
        var method = "POST"
        var path: String
        var headers: [String: String] = [:]
        var body: String?
        /// Whether it is expected to succeed, for what comes after.
        var prepares = false
    }

    private func action(_ api: APICaller, _ name: String = "find") -> String {
        "/app/\(api.app)/endpoint/data/v1/action/\(name)"
    }

    private func headerRequests(_ api: APICaller, _ user: APICaller.User, _ secrets: Secrets) -> [Sent] {
        let body = #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Open"}"#
        var sent: [Sent] = []
        for name in ["apiKey", "api-key", "jwtTokenString", "X-Private", "Cookie", "User-Agent", "Referer"] {
            sent.append(Sent(path: action(api), headers: [name: secrets.make(name)], body: body))
        }
        let token = secrets.make("bearer token")
        let form = "eyJhbGciOiJIUzI1NiJ9.\(secrets.make("claims")).\(secrets.make("signature"))"
        for bearer in [token, form, "\(user.accessToken)\(secrets.make("mangled token"))"] {
            let headers = ["Authorization": "Bearer \(bearer)"]
            sent.append(Sent(path: action(api), headers: headers, body: body))
            sent.append(Sent(path: "/api/client/v2.0/auth/session", headers: headers))
            sent.append(Sent(method: "GET", path: "/api/client/v2.0/auth/profile", headers: headers))
        }
        let email = secrets.make("email header")
        let password = secrets.make("password header")
        sent.append(Sent(path: action(api), headers: ["email": email, "password": password], body: body))
        sent.append(Sent(path: action(api), headers: ["email": secrets.make("email alone")], body: body))
        for query in ["secret", "password", "token"] {
            sent.append(Sent(path: action(api) + "?\(query)=\(secrets.make("query \(query)"))", body: body))
        }
        sent.append(Sent(path: "/app/\(secrets.make("app id"))/endpoint/data/v1/action/find", body: body))
        sent.append(Sent(path: "/app/\(api.app)/endpoint/data/\(secrets.make("version"))/action/find"))
        sent.append(Sent(path: action(api, secrets.make("action")), body: body))
        sent.append(Sent(method: "GET", path: "/\(secrets.make("path"))?key=\(secrets.make("path query"))"))
        return sent
    }

    private func bodyRequests(_ api: APICaller, _ user: APICaller.User, _ secrets: Secrets) -> [Sent] {
        let start = #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Open""#
        func secret(_ what: String) -> String { secrets.make(what) }
        let finds = [
            #"{"\#(secret("torn body"))"#, secret("no body"), start + ", \(secret("bare word"))}",
            start + #","filter":"\#(secret("filter"))"}"#,
            start + #","filter":{"$\#(secret("operator"))":1}}"#,
            start + #","filter":{"a":{"$\#(secret("field operator"))":1}}}"#,
            start + #","filter":{"a":{"$regex":"(\#(secret("regex"))"}}}"#,
            start + #","filter":{"a":{"$oid":"\#(secret("oid"))"}}}"#,
            start + #","filter":{"a":{"$numberDecimal":"\#(secret("decimal"))"}}}"#,
            start + #","filter":{"a":{"$date":"\#(secret("date"))"}}}"#,
            start + #","filter":{"a":{"$type":"\#(secret("type"))"}}}"#,
            start + #","limit":"\#(secret("limit"))"}"#,
            start + #","projection":{"a":{"$slice":"\#(secret("slice"))"}}}"#,
            start + #","sort":{"a":"\#(secret("sort"))"}}"#,
            start.replacingOccurrences(of: "mongodb-atlas", with: secret("data source")) + "}",
        ].map { (name: "find", body: $0) }
        let aggregates = [
            #"[{"$\#(secret("stage"))":{}}]"#, #"[{"$project":{"x":{"$\#(secret("expression"))":1}}}]"#,
            #"[{"$limit":"\#(secret("pipeline limit"))"}]"#, #""\#(secret("pipeline"))""#,
        ].map { (name: "aggregate", body: start + #","pipeline":\#($0)}"#) }
        let id = secret("duplicate id")
        let inserts = [
            #"{"_id":"\#(id)"}"#, #"{"_id":"\#(id)"}"#, #"{"_id":["\#(secret("array id"))"]}"#,
        ].map { (name: "insertOne", body: start + #","document":\#($0)}"#) }
        let checked = start.replacingOccurrences(of: "Open", with: "Checked")
        let refused = [
            (name: "insertOne", body: checked + #","document":{"name":{"a":"\#(secret("wrong type"))"}}}"#),
            (name: "insertOne", body: checked + #","document":{"name":"x","count":"\#(secret("count"))"}}"#),
            (name: "updateOne", body: start + #","filter":{},"update":{"$\#(secret("modifier"))":1}}"#),
            (name: "updateOne", body: start + #","filter":{},"update":{"$inc":{"a":"\#(secret("inc"))"}}}"#),
        ]
        let stored = [
            (
                name: "insertOne",
                body: start + #","document":{"t":"\#(user.id)","s":"\#(secret("stored"))"}}"#
            ),
            (
                name: "aggregate",
                body: start
                    + #","pipeline":[{"$match":{"t":"\#(user.id)"}},{"$project":{"x":{"$toInt":"$s"}}}]}"#
            ),
        ]
        return (inserts + stored + finds + aggregates + refused).enumerated().map { index, request in
            Sent(
                path: action(api, request.name),
                headers: user.bearer.merging(["Content-Type": "application/ejson"]) { first, _ in first },
                body: request.body,
                prepares: index == 0 || index == inserts.count
            )
        }
    }

    private func clientRequests(_ api: APICaller, _ secrets: Secrets) -> [Sent] {
        let providers = "/api/client/v2.0/app/\(api.app)/auth/providers"
        func secret(_ what: String) -> String { secrets.make(what) }
        let json = ["Content-Type": "application/json"]
        return [
            Sent(
                path: "\(providers)/local-userpass/login",
                headers: json,
                body: #"{"username":"\#(secret("username"))","password":"\#(secret("password"))"}"#
            ),
            Sent(
                path: "\(providers)/local-userpass/login",
                headers: json,
                body: #"{"username":"\#(secret("torn login"))","password":\#(secret("torn password"))}"#
            ),
            Sent(
                path: "\(providers)/local-userpass/register",
                headers: json,
                body: #"{"email":"\#(secret("no email"))","password":"\#(secret("new password"))"}"#
            ),
            Sent(
                path: "\(providers)/local-userpass/register",
                headers: json,
                body: #"{"email":"a@example.com","password":["\#(secret("list of passwords"))"]}"#
            ),
            Sent(
                path: "\(providers)/local-userpass/confirm",
                headers: json,
                body: #"{"token":"\#(secret("mail token"))","tokenId":"\#(secret("mail token id"))"}"#
            ),
            Sent(
                path: "\(providers)/local-userpass/reset",
                headers: json,
                body:
                    #"{"token":"\#(secret("reset token"))","tokenId":"x","password":"\#(secret("next password"))"}"#
            ),
            Sent(
                path: "\(providers)/local-userpass/reset/send",
                headers: json,
                body: #"{"email":"\#(secret("forgotten email"))"}"#
            ),
            Sent(
                path: "\(providers)/local-userpass/login?link=true",
                headers: json,
                body: #"{"username":"\#(secret("linked name"))","password":"\#(secret("linked password"))"}"#
            ),
            Sent(path: "\(providers)/api-key/login", headers: json, body: #"{"key":"\#(secret("key"))"}"#),
            Sent(
                path: "\(providers)/custom-token/login",
                headers: json,
                body: #"{"token":"\#(secret("custom token"))"}"#
            ),
            Sent(path: "\(providers)/\(secret("provider"))/login", headers: json, body: "{}"),
            Sent(
                method: "GET",
                path: "/api/client/v2.0/app/\(secret("app id of the client API"))/location"
            ),
        ]
    }
}
