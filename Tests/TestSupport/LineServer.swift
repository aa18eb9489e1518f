import Foundation
import Glibc
import Synchronization

/// A server on a free port of this machine that speaks lines: what tests need of mail servers and issuers.
///
/// Each connection is handled on a thread of its own, so that handlers may block.
public final class LineServer: Sendable {
    /// Where it listens, on 127.0.0.1.
    public let port: UInt16
    private let listener: Int32
    private let isOpen = Mutex(true)

    /// One connection, line by line.
    public struct Connection: Sendable {
        fileprivate let descriptor: Int32

        /// The next line without its end; nil at the end of the connection.
        public func line() -> String? {
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) == 1 {
                if byte == UInt8(ascii: "\n") {
                    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
                    return String(decoding: bytes, as: UTF8.self)
                }
                bytes.append(byte)
            }
            return nil
        }

        /// So many bytes; fewer at the end of the connection.
        public func bytes(_ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            var have = 0
            while have < count {
                let got = bytes[have...].withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                guard got > 0 else { break }
                have += got
            }
            return Array(bytes.prefix(have))
        }

        /// Sends a text as it stands.
        public func send(_ text: String) { send(Array(text.utf8)) }

        /// Sends bytes; what the other side no longer takes is dropped.
        public func send(_ bytes: [UInt8]) {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    /// Why it does not listen.
    public struct NotListening: Error {
        /// The error number of the system.
        public let number: Int32
    }

    /// Listens, and hands every connection to a handler; the connection closes when that returns.
    public init(_ handle: @escaping @Sendable (Connection) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    ? getsockname(listener, address, &length) : -1
            }
        }
        guard status == 0 else { throw NotListening(number: errno) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                Thread.detachNewThread {
                    handle(Connection(descriptor: descriptor))
                    close(descriptor)
                }
            }
        }
    }

    /// Stops listening.
    public func stop() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    deinit { stop() }

    /// Answers every HTTP request with one JSON text.
    public static func json(_ body: @escaping @Sendable () -> String) throws -> LineServer {
        try LineServer { connection in
            while let line = connection.line(), !line.isEmpty {}
            let text = body()
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(text)"
            )
        }
    }
}

/// A mail server that takes every mail, or says why not.
public final class MailSink: Sendable {
    /// One mail as it came.
    public struct Mail: Sendable {
        /// From the envelope.
        public let sender: String
        /// From the envelope.
        public let recipient: String
        /// The lines of the message.
        public let lines: [String]
        /// What `AUTH PLAIN` said; nil without it.
        public let login: String?
    }

    private final class State: Sendable {
        let mails = Mutex<[Mail]>([])
        let refusal = Mutex<String?>(nil)
    }

    private let state = State()
    private let server: LineServer

    /// Listens.
    public init() throws {
        let state = state
        server = try LineServer { Self.speak($0, state) }
    }

    /// Where it listens, on 127.0.0.1.
    public var port: UInt16 { server.port }

    /// Everything that was taken.
    public var mails: [Mail] { state.mails.withLock { $0 } }

    /// What it answers to recipients from now on, such as `550 no such mailbox`; nil takes them.
    public func refuse(_ line: String?) {
        state.refusal.withLock { $0 = line }
    }

    private static func speak(_ connection: LineServer.Connection, _ state: State) {
        var sender = ""
        var recipient = ""
        var login: String?
        connection.send("220 sink\r\n")
        while let line = connection.line() {
            let verb = line.prefix(4).uppercased()
            switch verb {
            case "EHLO": connection.send("250-sink\r\n250-AUTH PLAIN\r\n250 8BITMIME\r\n")
            case "AUTH":
                var code = line.split(separator: " ").dropFirst(2).first.map(String.init)
                if code == nil {
                    connection.send("334 \r\n")
                    code = connection.line()
                }
                login = code.flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
                connection.send("235 welcome\r\n")
            case "MAIL":
                sender = line
                connection.send("250 ok\r\n")
            case "RCPT":
                recipient = line
                connection.send((state.refusal.withLock { $0 } ?? "250 ok") + "\r\n")
            case "DATA":
                connection.send("354 go on\r\n")
                var lines: [String] = []
                while let next = connection.line(), next != "." { lines.append(next) }
                let mail = Mail(sender: sender, recipient: recipient, lines: lines, login: login)
                state.mails.withLock { $0.append(mail) }
                connection.send("250 taken\r\n")
            case "QUIT":
                connection.send("221 bye\r\n")
                return
            default: connection.send("250 ok\r\n")
            }
        }
    }
}
