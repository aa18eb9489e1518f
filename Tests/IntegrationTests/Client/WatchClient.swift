import Foundation
import Synchronization
import TestSupport
import Testing

/// Somebody who watches a collection with curl, as SDKs ask for it, and reads the stream as their parsers do.
///
/// Source: `reference/client-api.md` §10.
final class WatchClient: Sendable {
    /// How the request carries the token and the call.
    enum Dialect: CaseIterable {
        /// A header, and `baas_request`.
        case web
        /// `baas_at`.
        case core
        /// `stitch_at` and `stitch_request`.
        case stitch
    }

    private let process: Mutex<Process>
    private let folder: URL

    /// Sends the request; does not wait for an answer.
    ///
    /// - Parameters:
    ///   - api: The gateway.
    ///   - token: An access token; empty for none.
    ///   - call: The call as JSON text.
    ///   - dialect: Whose request it is.
    ///   - arguments: More for curl.
    /// - Throws: When curl cannot be started.
    init(
        _ api: APICaller,
        token: String,
        call: String,
        dialect: Dialect = .web,
        arguments: [String] = []
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("watch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let allowed = CharacterSet.alphanumerics
        let request =
            Data(call.utf8).base64EncodedString().addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        var url = "\(api.server.http)/api/client/v2.0/app/\(api.app)/functions/call?"
        var headers = ["-H", "Accept: text/event-stream"]
        switch dialect {
        case .web:
            url += "baas_request=\(request)"
            if !token.isEmpty { headers += ["-H", "Authorization: Bearer \(token)"] }
        case .core: url += "baas_request=\(request)&baas_at=\(token)"
        case .stitch: url += "stitch_request=\(request)&stitch_at=\(token)"
        }
        let curl = Process()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        let (head, body) = (folder.appendingPathComponent("head"), folder.appendingPathComponent("body"))
        curl.arguments = ["-sN", "-D", head.path, "-o", body.path] + headers + arguments + [url]
        try curl.run()
        process = Mutex(curl)
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: folder)
    }

    private var body: URL { folder.appendingPathComponent("body") }

    /// Closes the connection.
    func stop() {
        // A signal that cannot be ignored: what a child inherits depends on the thread that starts it.
        process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } }
    }

    /// Whether the stream has ended.
    var isOver: Bool { process.withLock { !$0.isRunning } }

    /// The lines of the answer's head; empty until it has come.
    var head: [String] {
        let text = try? String(contentsOf: folder.appendingPathComponent("head"), encoding: .utf8)
        guard let text, text.contains("\r\n\r\n") else { return [] }
        return text.components(separatedBy: "\r\n")
    }

    var status: Int? { head.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } }

    /// What came behind the head.
    var text: String { (try? String(contentsOf: body, encoding: .utf8)) ?? "" }

    /// The blocks of the stream that have come whole.
    private var blocks: [String] { Array(text.components(separatedBy: "\n\n").dropLast()) }

    /// The events' data as JSON text, unescaped as SDKs do.
    var events: [String] {
        blocks.filter { $0.hasPrefix("data: ") }.map { Self.unescaped($0.dropFirst("data: ".count)) }
    }

    /// The data of the error event, if one came.
    var failure: String? {
        blocks.first { $0.hasPrefix("event: error\ndata: ") }
            .map { Self.unescaped($0.dropFirst("event: error\ndata: ".count)) }
    }

    private static func unescaped(_ data: Substring) -> String {
        data.replacingOccurrences(of: "%0A", with: "\n").replacingOccurrences(of: "%0D", with: "\r")
            .replacingOccurrences(of: "%25", with: "%")
    }

    /// The events as Foundation reads JSON.
    var objects: [[String: Any]] {
        events.map { (try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) ?? [:] }
    }

    /// `operationType` of each event.
    var types: [String] { objects.map { $0["operationType"] as? String ?? "?" } }

    /// The member `n` of each event's document, where it is an int.
    var numbers: [Int] { objects.compactMap(Self.number) }

    /// The member `n` of an event's document, if it is an int.
    static func number(_ event: [String: Any]) -> Int? {
        (((event["fullDocument"] as? [String: Any])?["n"] as? [String: String])?["$numberInt"]).flatMap {
            Int($0)
        }
    }

    /// The resume token of each event.
    var tokens: [String] { objects.map { ($0["_id"] as? [String: Any])?["_data"] as? String ?? "" } }

    /// Waits until the stream stands.
    func opened(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await eventually(sourceLocation: sourceLocation) { status != nil || isOver }
        #expect(status == 200, "\(head) \(text)", sourceLocation: sourceLocation)
    }

    /// Waits for so many events.
    func has(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await eventually(sourceLocation: sourceLocation) { events.count >= count || isOver }
        #expect(events.count == count, "\(head) \(text)", sourceLocation: sourceLocation)
    }
}

extension ServiceCall {
    /// A stream of the collection's changes, once it stands.
    func watch(
        _ members: String = "",
        by other: APICaller? = nil,
        dialect: WatchClient.Dialect = .web
    ) async throws -> WatchClient {
        let client = try watchUnasked(members, by: other, dialect: dialect)
        try await client.opened()
        return client
    }

    /// As ``watch(_:by:dialect:)``, whatever the answer.
    func watchUnasked(
        _ members: String = "",
        by other: APICaller? = nil,
        dialect: WatchClient.Dialect = .web,
        arguments: [String] = []
    ) throws -> WatchClient {
        let rest = members.isEmpty ? "" : "," + members
        return try WatchClient(
            other ?? api,
            token: user.accessToken,
            call:
                #"{"name":"watch","arguments":[{"database":"todo","collection":"\#(collection)"\#(rest)}],"service":"mongodb-atlas"}"#,
            dialect: dialect,
            arguments: arguments
        )
    }
}
