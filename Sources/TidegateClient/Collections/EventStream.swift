import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One connection that brings server-sent events.
struct EventStream {
    let user: User
    let call: Document

    /// Reads events until the server ends the stream or the task is cancelled.
    func read(opened: @Sendable () -> Void, _ event: (Document) throws -> Void) async throws {
        let token = try await user.validToken()
        do {
            try await read(token, opened, event)
        } catch let error as TidegateError where error.kind == .service && error.status == 401 {
            try await read(try await user.renew(replacing: token), opened, event)
        }
    }

    private func read(
        _ token: String,
        _ opened: @Sendable () -> Void,
        _ event: (Document) throws -> Void
    ) async throws {
        let question = Data(AnyBSON.document(call).bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "%2B").replacingOccurrences(of: "/", with: "%2F")
            .replacingOccurrences(of: "=", with: "%3D")
        let request = try user.app.transport.request(
            "GET",
            user.app.path("/functions/call") + "?baas_request=\(question)",
            headers: ["Authorization": "Bearer \(token)", "Accept": "text/event-stream"],
            body: nil
        )
        let (pieces, continuation) = AsyncThrowingStream.makeStream(of: StreamDelegate.Piece.self)
        let delegate = StreamDelegate(continuation)
        // Signs of life come every 15 seconds.
        let configuration = Transport.configuration(timeout: max(60, user.app.transport.timeout))
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: request).resume()
        var parser = ServerSentEvents()
        var failure: (status: Int, body: [UInt8])?
        for try await piece in pieces {
            switch piece {
            case .status(200): opened()
            case .status(let status): failure = (status, [])
            case .bytes(let bytes):
                if failure != nil {
                    failure?.body += bytes
                } else {
                    for document in try parser.take(bytes) { try event(document) }
                }
            }
        }
        try Task.checkCancellation()
        if let failure { throw TidegateError(status: failure.status, body: failure.body, retryAfter: nil) }
        throw TidegateError(.network, "the stream has ended")
    }
}

/// Hands on what a connection brings, as it comes.
private final class StreamDelegate: NSObject, URLSessionDataDelegate {
    enum Piece: Sendable {
        case status(Int)
        case bytes([UInt8])
    }

    private let continuation: AsyncThrowingStream<Piece, any Error>.Continuation

    init(_ continuation: AsyncThrowingStream<Piece, any Error>.Continuation) {
        self.continuation = continuation
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        continuation.yield(.status((response as? HTTPURLResponse)?.statusCode ?? 0))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        continuation.yield(.bytes([UInt8](data)))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let error else { return continuation.finish() }
        continuation.finish(
            throwing: TidegateError(.network, "the stream broke: \(error.localizedDescription)")
        )
    }
}

/// Puts events together from pieces that end anywhere.
struct ServerSentEvents {
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var type = ""

    /// The events that are complete with these bytes.
    ///
    /// - Throws: ``TidegateError`` of an `error` event.
    mutating func take(_ bytes: [UInt8]) throws -> [Document] {
        var events: [Document] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if let event = try take(line: line) { events.append(event) }
            line = []
        }
        return events
    }

    private mutating func take(line: [UInt8]) throws -> Document? {
        guard !line.isEmpty else { return try end() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data": data += value
        case "event": type = String(decoding: value, as: UTF8.self)
        default: break
        }
        return nil
    }

    private mutating func end() throws -> Document? {
        defer {
            data = []
            type = ""
        }
        guard !data.isEmpty else { return nil }
        let document = try ExtendedJSONReader.read(Self.unescaped(data)).documentValue
        guard type == "error" else { return document }
        var error = TidegateError(.service, document?["error"]?.stringValue ?? "the stream failed")
        error.code = document?["error_code"]?.stringValue
        throw error
    }

    /// `%25`, `%0A` and `%0D`, which the server writes for what would end a line.
    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var out: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let known: UInt8? =
                switch bytes[index...].prefix(3) {
                case let part where part.elementsEqual("%25".utf8): UInt8(ascii: "%")
                case let part where part.elementsEqual("%0A".utf8): UInt8(ascii: "\n")
                case let part where part.elementsEqual("%0D".utf8): UInt8(ascii: "\r")
                default: nil
                }
            out.append(known ?? bytes[index])
            index += known == nil ? 1 : 3
        }
        return out
    }
}
