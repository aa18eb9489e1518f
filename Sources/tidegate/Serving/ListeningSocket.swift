import Glibc
import NIOCore

/// A TCP socket that listens.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    /// Chosen by the system where 0 was asked for.
    let port: Int

    /// Who waits to be taken in, at the most.
    ///
    /// The system takes less where its own limit is lower (`net.core.somaxconn`, 4096 by default). Who is not taken tries
    /// again a second later, and all of those at once.
    private static let backlog: Int32 = 16_384

    /// Opens one.
    ///
    /// - Throws: What NIO or the system says when the address is not known or cannot be had.
    init(host: String, port: Int) throws {
        let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
        let descriptor = socket(
            address.protocol.rawValue,
            Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        do {
            var one: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
            let bound = address.withSockAddr { pointer, length in
                Glibc.bind(descriptor, pointer, socklen_t(length))
            }
            guard bound == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
            guard listen(descriptor, Self.backlog) == 0 else {
                throw IOError(errnoCode: errno, reason: "listen")
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.port = Self.port(of: descriptor)
    }

    private static func port(of descriptor: Int32) -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = getsockname(descriptor, $0, &length)
            }
        }
        // Behind the family, in the network's order, with IPv4 as with IPv6.
        return withUnsafeBytes(of: storage) { Int($0[2]) << 8 | Int($0[3]) }
    }
}
