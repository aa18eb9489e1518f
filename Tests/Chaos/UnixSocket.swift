import Glibc

/// Stream sockets in the file system, as PostgreSQL's clients use them.
enum UnixSocket {
    /// Listens at a path, replacing what was there.
    static func listen(_ path: String) -> Int32 {
        unlink(path)
        let made = make()
        let status = withAddress(path) { bind(made, $0, $1) }
        precondition(status == 0 && Glibc.listen(made, 256) == 0, "cannot listen at \(path): errno \(errno)")
        return made
    }

    /// Connects to a path; nil when nobody listens there.
    static func connect(_ path: String) -> Int32? {
        let made = make()
        guard withAddress(path, { Glibc.connect(made, $0, $1) }) == 0 else {
            close(made)
            return nil
        }
        return made
    }

    private static func make() -> Int32 {
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        precondition(made >= 0, "no socket: errno \(errno)")
        return made
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            let bytes = Array(path.utf8)
            precondition(bytes.count < room.count, "\(path) is too long for a socket")
            room.copyBytes(from: bytes)
        }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
