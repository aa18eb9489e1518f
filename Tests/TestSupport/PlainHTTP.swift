import Glibc

/// One connection of HTTP/1.1 over a blocking socket: it never tries anything twice by itself.
///
/// What a caller knows of a request that got no answer is the whole point here, and a client library that
/// reconnects and repeats on its own would hide it.
public final class PlainHTTP {
    /// Why there is no answer.
    public enum Failure: Error {
        /// The server did not take the connection: the request was not sent.
        case refused
        /// The connection broke; whether the request was carried out is not known.
        case lost(String)
        /// No answer for so long that something hangs.
        case silent
    }

    /// A status and a body.
    public struct Answer: Sendable {
        /// The HTTP status.
        public let status: Int
        /// The body as text.
        public let body: String
        /// Whether the server said that it will close the connection.
        public let closes: Bool
    }

    private let port: UInt16
    private var socket: Int32 = -1
    private var buffer: [UInt8] = []
    /// Far beyond every limit of the server's.
    private static let patience = 90

    /// Nothing is opened before the first request.
    public init(port: UInt16) {
        self.port = port
    }

    deinit {
        close()
    }

    /// Ends the connection; the next request opens another one.
    public func close() {
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
        buffer = []
    }

    /// Sends one request and reads its answer.
    ///
    /// - Parameters:
    ///   - method: As in the first line.
    ///   - path: With its query.
    ///   - headers: Besides host and length.
    ///   - body: The body as text.
    ///   - beforeReading: Called once the request is sent; as long as it takes, the answer waits in the sockets.
    /// - Returns: The answer, whatever its status.
    /// - Throws: ``Failure`` when there is none.
    public func send(
        _ method: String,
        _ path: String,
        _ headers: [(String, String)] = [],
        _ body: String = "",
        beforeReading: () -> Void = {}
    ) throws(Failure) -> Answer {
        if socket < 0 { try connect() }
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        do throws(Failure) {
            try write(Array((head + "\r\n" + body).utf8))
            beforeReading()
            let answer = try read()
            if answer.closes { close() }
            return answer
        } catch {
            close()
            throw error
        }
    }

    private func connect() throws(Failure) {
        let made = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { throw .lost("no socket: errno \(errno)") }
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            Glibc.close(made)
            throw .refused
        }
        socket = made
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw .lost("errno \(errno) while sending") }
            sent += count
        }
    }

    private func read() throws(Failure) -> Answer {
        var end = headEnd()
        while end == nil {
            try receive()
            end = headEnd()
        }
        let head = String(decoding: buffer[..<(end ?? 0)], as: UTF8.self).lowercased()
        buffer.removeFirst((end ?? 0) + 4)
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count > 1, let status = Int(words[1]) else { throw .lost("no status line") }
        var length = 0
        var closes = false
        for line in lines.dropFirst() {
            if line.hasPrefix("content-length:") { length = Int(line.dropFirst(15).drop { $0 == " " }) ?? 0 }
            if line == "connection: close" { closes = true }
            if line.hasPrefix("transfer-encoding:") {
                throw .lost("a chunked answer, which nobody announced")
            }
        }
        while buffer.count < length { try receive() }
        let body = String(decoding: buffer[..<length], as: UTF8.self)
        buffer.removeFirst(length)
        return Answer(status: status, body: body, closes: closes)
    }

    private func headEnd() -> Int? {
        buffer.indices.first { index in
            index + 3 < buffer.count && buffer[index] == 13 && buffer[index + 1] == 10
                && buffer[index + 2] == 13 && buffer[index + 3] == 10
        }
    }

    private func receive() throws(Failure) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &chunk, chunk.count, 0)
        if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) { throw .silent }
        guard count > 0 else { throw .lost(count == 0 ? "closed" : "errno \(errno) while reading") }
        buffer += chunk[..<count]
    }
}
