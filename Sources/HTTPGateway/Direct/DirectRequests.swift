import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import Synchronization

/// The requests of one connection that are answered directly: one at a time, by one task, as long as the
/// connection stands.
final class DirectRequests: Sendable {
    private struct State {
        var waiting: UnsafeContinuation<DirectRequest?, Never>?
        var next: DirectRequest?
        /// Who waits until the client has taken what was written.
        var writer: UnsafeContinuation<Void, Never>?
        var isOver = false
    }

    private let state = Mutex(State())

    // MARK: On the connection's event loop

    /// Hands a request to the task; the one before has been answered.
    func deliver(_ request: DirectRequest) {
        let waiting = state.withLock { state in
            if state.waiting == nil { state.next = request }
            return state.waiting.take()
        }
        waiting?.resume(returning: request)
    }

    /// The client has taken what was written.
    func roomMade() {
        state.withLock { $0.writer.take() }?.resume()
    }

    /// No request comes any more, and nobody waits for an answer.
    func end() {
        let (waiting, writer) = state.withLock { state in
            state.isOver = true
            return (state.waiting.take(), state.writer.take())
        }
        waiting?.resume(returning: nil)
        writer?.resume()
    }

    // MARK: In the connection's task

    /// Answers requests until the connection ends.
    func run(_ responder: any DirectResponder, serverName: String, on connection: DirectConnection) async {
        while let request = await next() {
            let response = await responder.respond(to: request, peerAddress: connection.peerAddress)
            var head = HTTPResponseHead(response.head)
            head.headers.add(name: "Date", value: HTTPDate.text)
            head.headers.add(name: "Server", value: serverName)
            do {
                try await connection.perform { [head] in $0.send(head: head) }
                try await response.body.write(DirectBodyWriter(requests: self, connection: connection))
                try await connection.perform { $0.answerEnded() }
            } catch {
                try? await connection.perform { $0.abandon() }
            }
        }
    }

    private func next() async -> DirectRequest? {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<DirectRequest?, Never>) in
            let (request, isOver) = state.withLock { state -> (DirectRequest?, Bool) in
                if let next = state.next.take() { return (next, false) }
                if !state.isOver { state.waiting = continuation }
                return (nil, state.isOver)
            }
            if request != nil || isOver { continuation.resume(returning: request) }
        }
    }

    /// Waits until the client has taken what was written.
    ///
    /// - Throws: When the connection ends or the task is cancelled before.
    fileprivate func room(on connection: DirectConnection) async throws {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                state.withLock { $0.writer = continuation }
                // Any of these may have come about before somebody waited to be told.
                if Task.isCancelled || connection.channel.isWritable || state.withLock({ $0.isOver }) {
                    roomMade()
                }
            }
        } onCancel: {
            roomMade()
        }
        try Task.checkCancellation()
        if state.withLock({ $0.isOver }) { throw ChannelError.ioOnClosedChannel }
    }
}

/// A connection as the task sees it that answers its requests.
struct DirectConnection: Sendable {
    let channel: any Channel
    let peerAddress: String?
    private let handler: NIOLoopBound<DirectHandler>

    /// To be made on the channel's event loop.
    init(_ channel: any Channel, _ handler: DirectHandler) {
        self.channel = channel
        peerAddress = channel.remoteAddress?.ipAddress
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// Does something on the event loop, where the task usually is already.
    func perform<Value: Sendable>(_ body: @escaping @Sendable (DirectHandler) -> Value) async throws -> Value
    {
        if channel.eventLoop.inEventLoop { return body(handler.value) }
        return try await channel.eventLoop.submit { body(handler.value) }.get()
    }
}

/// Writes an answer's body: a short one leaves together with its head and end, pieces of a long one each when the
/// client has taken those before.
private struct DirectBodyWriter: ResponseBodyWriter {
    let requests: DirectRequests
    let connection: DirectConnection

    func write(_ buffer: ByteBuffer) async throws {
        let isPiece = buffer.readableBytes >= RequestGate.smallBody
        let hasRoom = try await connection.perform { $0.send(body: buffer, flushing: isPiece) }
        if isPiece, !hasRoom { try await requests.room(on: connection) }
    }

    consuming func finish(_ trailers: HTTPFields?) async throws {
        try await connection.perform { $0.sendEnd() }
    }
}
