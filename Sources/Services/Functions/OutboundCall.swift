import AsyncHTTPClient
import BSON
import Foundation
import NIOCore
import NIOHTTP1
import Scripting

/// A request of a script, checked.
struct OutboundCall {
    private(set) var method: String
    /// `http` or `https`, with a host.
    private(set) var url: URL
    private var headers: HTTPHeaders
    private var body: [UInt8]?
    let followsRedirects: Bool
    let username: String?
    let password: String?
    let usesDigest: Bool
    /// Asked first, for its cookies.
    let authURL: String?
    /// Stands for what user name and password would give.
    var authorization: String?

    /// - Throws: ``HostError`` that names the argument.
    init(_ arguments: BSONDocument) throws(HostError) {
        method = arguments["method"]?.string?.uppercased() ?? "GET"
        guard Self.methods.contains(method) else {
            throw HostError(
                "method must be one of \(Self.methods.joined(separator: ", "))",
                name: "TypeError"
            )
        }
        url = try Self.url(arguments["url"]?.string, "url")
        headers = HTTPHeaders()
        for field in arguments["headers"]?.document ?? [:] {
            let values = field.value.array ?? [field.value]
            for value in values {
                guard let text = value.string, Self.isHeader(field.key, text) else {
                    throw HostError("headers.\(field.key) must be lists of strings", name: "TypeError")
                }
                // What frames the request is not the script's to say.
                guard !Self.framing.contains(field.key.lowercased()) else { continue }
                headers.add(name: field.key, value: text)
            }
        }
        if case .binary(let binary)? = arguments["body"] { body = binary.bytes }
        followsRedirects = arguments["followRedirects"]?.bool ?? false
        username = arguments["username"]?.string ?? url.user
        password = arguments["password"]?.string ?? url.password
        usesDigest = arguments["digestAuth"]?.bool ?? false
        authURL = arguments["authUrl"]?.string
        if !usesDigest, let username {
            let pair = Array("\(username):\(password ?? "")".utf8)
            authorization = "Basic \(Data(pair).base64EncodedString())"
        }
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    private static let framing: Set<String> = [
        "content-length", "transfer-encoding", "connection", "upgrade",
    ]

    private static func isHeader(_ name: String, _ value: String) -> Bool {
        let separators = Set(#"()<>@,;:\"/[]?={} "#.utf8)
        return !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !separators.contains($0) }
            && value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }

    private static func url(_ text: String?, _ field: String) throws(HostError) -> URL {
        guard let text, text.utf8.count <= 32768, let url = URL(string: text),
            url.scheme.map({ ["http", "https"].contains($0.lowercased()) }) == true,
            let host = url.host, !host.isEmpty
        else { throw HostError("\(field) must be an http or https URL with a host", name: "TypeError") }
        return url
    }

    /// As the client looks it up.
    var host: String {
        let host = url.host ?? ""
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    var port: Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }

    /// Path and query, as the request line has them.
    var target: String {
        let path = url.path(percentEncoded: true)
        return (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }

    var request: HTTPClientRequest {
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = HTTPMethod(rawValue: method)
        request.headers = headers
        if let authorization, !headers.contains(name: "Authorization") {
            request.headers.add(name: "Authorization", value: authorization)
        }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        return request
    }

    /// The request for `authUrl`.
    func opening(_ address: String) throws(HostError) -> OutboundCall {
        var call = self
        call.url = try Self.url(address, "authUrl")
        call.method = "GET"
        call.body = nil
        return call
    }

    mutating func add(cookies: [(name: String, value: String)]) {
        guard !cookies.isEmpty else { return }
        let sent = headers["Cookie"] + cookies.map { "\($0.name)=\($0.value)" }
        headers.replaceOrAdd(name: "Cookie", value: sent.joined(separator: "; "))
    }

    /// The request that a redirect asks for; nil when the response is none.
    ///
    /// As browsers do it: 303, and 301 and 302 after a POST, become GET. Credentials stay with their origin.
    func redirected(by response: OutboundResponse) -> Result<OutboundCall, HostError>? {
        guard [301, 302, 303, 307, 308].contains(response.status.code),
            let location = response.headers.first(name: "Location")
        else { return nil }
        guard let next = URL(string: location, relativeTo: url)?.absoluteURL else {
            return .failure(HostError("the redirect of \(host) leads to no URL"))
        }
        var call = self
        do throws(HostError) {
            call.url = try Self.url(next.absoluteString, "the redirect of \(host)")
        } catch {
            return .failure(error)
        }
        let code = response.status.code
        if code == 303 && method != "HEAD" || (code == 301 || code == 302) && method == "POST" {
            call.method = "GET"
            call.body = nil
            call.headers.remove(name: "Content-Type")
        }
        if call.host != host || call.port != port || call.url.scheme != url.scheme {
            call.headers.remove(name: "Authorization")
            call.headers.remove(name: "Cookie")
            call.authorization = nil
        }
        return .success(call)
    }
}

/// What came back.
struct OutboundResponse {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let body: [UInt8]

    var cookies: [(name: String, value: String)] {
        headers["Set-Cookie"].compactMap { line in
            let pair = line.prefix { $0 != ";" }
            guard let equals = pair.firstIndex(of: "=") else { return nil }
            return (
                pair[..<equals].trimmingCharacters(in: .whitespaces),
                pair[pair.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            )
        }
    }

    /// As `context.http` gives it.
    var document: BSONDocument {
        var named = BSONDocument()
        for header in headers {
            let before = named[header.name]?.array ?? []
            named[header.name] = .array(before + [.string(header.value)])
        }
        var jar = BSONDocument()
        for cookie in cookies where !cookie.name.isEmpty { jar[cookie.name] = .string(cookie.value) }
        return [
            "status": .string("\(status.code) \(status.reasonPhrase)"),
            "statusCode": .int32(Int32(status.code)),
            "contentLength": .int64(
                Int64(headers.first(name: "Content-Length").flatMap { Int($0) } ?? body.count)
            ),
            "headers": .document(named),
            "cookies": .document(jar),
            "body": .binary(BSONBinary(subtype: 0, bytes: body)),
        ]
    }
}
