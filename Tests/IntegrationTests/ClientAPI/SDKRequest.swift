import Foundation
import TestSupport
import Testing

/// The clients whose requests these suites send by curl, byte for byte.
///
/// Source: `reference/client-api.md` §§1, 3.
enum SDK: CaseIterable {
    case web
    case core

    /// What it tells of the device at a login.
    var device: String {
        switch self {
        case .web: #""platform":"chrome","platformVersion":"120.0.0","sdkVersion":"2.0.1""#
        case .core:
            #""appId":"whole-abcde","bundleId":"com.example","coreVersion":"13.26.0","cpuArch":"x86_64","deviceName":"","deviceVersion":"","frameworkName":"","frameworkVersion":"","platform":"Linux","platformVersion":"6.1","sdk":"tests","sdkVersion":"1.0""#
        }
    }

    /// The body of a login: `realm-core` names the provider again, but for custom functions.
    func login(_ provider: String, _ members: String, deviceID: String? = nil) -> String {
        var parts = members.isEmpty ? [] : [members]
        if self == .core, provider != "custom-function" { parts.append(#""provider":"\#(provider)""#) }
        let id = deviceID.map { #","deviceId":{"$oid":"\#($0)"}"# } ?? ""
        parts.append(#""options":{"device":{\#(device)\#(id)}}"#)
        return "{\(parts.joined(separator: ","))}"
    }

    /// `realm-web` names a content type where there is a body, `realm-core` always.
    fileprivate func headers(hasBody: Bool) -> [String] {
        switch self {
        case .web: ["Accept: application/json"] + (hasBody ? ["Content-Type: application/json"] : [])
        case .core: ["Accept: application/json", "Content-Type: application/json;charset=utf-8"]
        }
    }
}

extension APICaller {
    /// Sends one request by curl, as an SDK does.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: With its query.
    ///   - body: Text of the body; nil sends none.
    ///   - token: Behind `Bearer`; nil sends no such header.
    ///   - sdk: Whose headers these are.
    ///   - headers: More of them, each as `Name: value`.
    /// - Returns: What came back, whatever its status.
    /// - Throws: ``Unreadable`` when curl got no answer.
    func curl(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        token: String? = nil,
        as sdk: SDK = .web,
        headers: [String] = []
    ) async throws -> Answer {
        var arguments = ["-sS", "-i", "-X", method, "-H", "Expect:"]
        for header in sdk.headers(hasBody: body != nil) + headers { arguments += ["-H", header] }
        if let token { arguments += ["-H", "Authorization: Bearer \(token)"] }
        if body != nil { arguments += ["--data-binary", "@-"] }
        let result = try await Shell.finish(
            URL(fileURLWithPath: "/usr/bin/curl"),
            arguments + ["\(server.http)\(path)"],
            input: body.map { Data($0.utf8) }
        )
        guard let end = result.output.firstRange(of: "\r\n\r\n") else {
            throw Unreadable(text: result.errors)
        }
        let lines = result.output[..<end.lowerBound].components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields[line[..<colon].lowercased(), default: ""] += value
        }
        return Answer(
            status: lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0,
            headers: fields,
            text: String(result.output[end.upperBound...])
        )
    }

    /// Calls an operation of the MongoDB service on a collection of `todo`, with further members of its argument.
    func callMongo(
        _ name: String,
        _ members: String,
        in collection: String,
        token: String,
        as sdk: SDK
    ) async throws -> Answer {
        let rest = members.isEmpty ? "" : "," + members
        let arguments = #""arguments":[{"database":"todo","collection":"\#(collection)"\#(rest)}]"#
        let body =
            switch sdk {
            case .web: #"{"name":"\#(name)",\#(arguments),"service":"mongodb-atlas"}"#
            case .core: #"{\#(arguments),"name":"\#(name)","service":"mongodb-atlas"}"#
            }
        return try await curl(
            "POST",
            "/api/client/v2.0/app/\(WholeApp.app)/functions/call",
            body,
            token: token,
            as: sdk
        )
    }

    struct Unreadable: Error {
        let text: String
    }

    /// A login, with what the SDK tells of its device.
    func logIn(
        _ provider: String,
        _ members: String = "",
        as sdk: SDK = .web,
        link: String? = nil,
        deviceID: String? = nil
    ) async throws -> Answer {
        try await curl(
            "POST",
            "/api/client/v2.0/app/\(app)/auth/providers/\(provider)/login\(link == nil ? "" : "?link=true")",
            sdk.login(provider, members, deviceID: deviceID),
            token: link,
            as: sdk
        )
    }

    /// One of the paths of email and password, by curl.
    func password(_ path: String, _ body: String, as sdk: SDK = .web) async throws -> Answer {
        try await curl(
            "POST",
            "/api/client/v2.0/app/\(app)/auth/providers/local-userpass/\(path)",
            body,
            as: sdk
        )
    }

    /// A call of a function, by curl.
    func function(_ name: String, _ arguments: String = "[]", as user: User, sdk: SDK = .core) async throws
        -> Answer
    {
        try await curl(
            "POST",
            "/api/client/v2.0/app/\(app)/functions/call",
            #"{"arguments":\#(arguments),"name":"\#(name)"}"#,
            token: user.accessToken,
            as: sdk
        )
    }

    /// A new anonymous user, by curl.
    func anonymous() async throws -> User { try tokens(try await logIn("anon-user")) }

    /// A new user with a password, of an app that confirms by itself.
    func registered(_ word: String = "user") async throws -> User {
        let email = newEmail(word)
        let made = try await password("register", #"{"email":"\#(email)","password":"correct horse"}"#)
        guard made.status == 201 else { throw UnexpectedAnswer(answer: made) }
        let user = try tokens(
            try await logIn("local-userpass", #""username":"\#(email)","password":"correct horse""#)
        )
        return User(
            id: user.id,
            email: email,
            password: "correct horse",
            accessToken: user.accessToken,
            refreshToken: user.refreshToken
        )
    }
}

/// The claims of a token, read as clients do, without a check.
func claims(_ token: String) throws -> [String: Any] {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    var text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    while text.utf8.count % 4 != 0 { text += "=" }
    let data = try #require(Data(base64Encoded: text))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
}
