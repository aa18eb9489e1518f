import TestSupport

/// A websocket of a device: whole messages, and how many bytes went either way.
package final class WireSocket {
    /// The server has closed the socket, or never opened it.
    package struct Closed: Error {
        package let why: String
        /// What its last frame says.
        package let code: Int?

        package init(why: String = "closed by the server", code: Int? = nil) {
            self.why = why
            self.code = code
        }
    }

    private let connection: RawConnection
    private var bytes: [UInt8] = []
    private var start = 0
    /// The answer to the request for the socket.
    package private(set) var head = ""
    package private(set) var sentBytes = 0
    package private(set) var receivedBytes = 0

    /// Asks for a socket of an app.
    package init(
        _ url: String,
        app: String,
        token: String,
        protocols: String = "com.mongodb.realm-query-sync#14"
    ) throws {
        connection = try RawConnection(url)
        connection.send(
            """
            GET /api/client/v2.0/app/\(app)/realm-sync?baas_at=\(token) HTTP/1.1\r
            Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: \(protocols)\r\n\r\n
            """
        )
        while true {
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                bytes.removeSubrange(..<end.upperBound)
                return
            }
            try receiveBytes()
        }
    }

    package func close() { connection.close() }

    package func send(_ message: String) { send(Array(message.utf8)) }

    package func send(_ message: [UInt8]) {
        var frame: [UInt8] = [0x82]
        switch message.count {
        case ..<126: frame.append(0x80 | UInt8(message.count))
        case ..<65_536: frame += [0x80 | 126, UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
        default:
            frame.append(0x80 | 127)
            frame += (0..<8).map { UInt8(truncatingIfNeeded: message.count >> (56 - 8 * $0)) }
        }
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        frame += mask
        frame += message.enumerated().map { $1 ^ mask[$0 & 3] }
        sentBytes += frame.count
        connection.send(frame)
    }

    /// Whether a message, or the end, has come or is on its way.
    package var hasMore: Bool { start < bytes.count || connection.hasBytes }

    /// The next message; waits for it.
    package func receive() throws -> [UInt8] {
        while true {
            if let (opcode, payload) = frame() {
                guard opcode == 2 else {
                    let code = payload.count > 1 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
                    throw Closed(why: "a frame of kind \(opcode)", code: code)
                }
                return payload
            }
            try receiveBytes()
        }
    }

    private func receiveBytes() throws {
        // A machine busy with other tests may hold a server up for minutes.
        for _ in 0..<10 {
            guard let more = connection.receive() else { throw Closed() }
            guard !more.isEmpty else { continue }
            receivedBytes += more.count
            if start > 0 { bytes.removeFirst(start) }
            start = 0
            bytes += more
            return
        }
        throw Closed(why: "silent for ten minutes")
    }

    private func frame() -> (opcode: UInt8, payload: [UInt8])? {
        let known = bytes[start...]
        guard known.count >= 2 else { return nil }
        var length = Int(known[start + 1] & 0x7F)
        let extra = length == 126 ? 2 : length == 127 ? 8 : 0
        guard known.count >= 2 + extra else { return nil }
        if extra > 0 {
            length = known[(start + 2)..<(start + 2 + extra)].reduce(0) { $0 << 8 | Int($1) }
        }
        let body = start + 2 + extra
        guard bytes.count >= body + length else { return nil }
        let opcode = bytes[start] & 15
        start = body + length
        return (opcode, Array(bytes[body..<start]))
    }
}
