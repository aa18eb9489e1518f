import Glibc

/// Whole requests as text, heads and bodies, to a gateway that runs: it answers or hangs up, and stays.
struct HTTPSubject: FuzzSubject {
    let name = "http"
    let port: UInt16

    func run(_ input: [UInt8]) throws -> Bool {
        // Line ends are written as `~`, so that a request is one line of the file.
        var request: [UInt8] = []
        for byte in input {
            if byte == UInt8(ascii: "~") { request += [13, 10] } else { request.append(byte) }
        }
        let answer = try exchange(request)
        if answer.contains(" 500 ") || answer.contains("InternalServerError") {
            throw Finding("answered with \(answer.prefix(300))")
        }
        let health = try exchange(Array("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
        if !health.hasPrefix("HTTP/1.1 200") { throw Finding("is not well: \(health.prefix(300))") }
        return true
    }

    /// Sends, says that nothing follows, and reads to the end.
    private func exchange(_ request: [UInt8]) throws -> String {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(made) }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Finding("the gateway takes no connections: errno \(errno)") }
        _ = send(made, request, request.count, Int32(MSG_NOSIGNAL))
        shutdown(made, Int32(SHUT_WR))
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = recv(made, &chunk, chunk.count, 0)
            if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) {
                throw Finding("neither answers nor hangs up")
            }
            guard count > 0 else { break }
            answer += chunk[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
