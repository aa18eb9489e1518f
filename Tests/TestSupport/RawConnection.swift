import Foundation
import Glibc
import Synchronization

/// A TCP connection that sends what it is told, byte for byte, for requests that no HTTP library would send.
public final class RawConnection: Sendable {
    private let descriptor: Int32
    private let port: UInt16
    private let isOpen = Mutex(true)

    /// Why there is no connection.
    public struct NotConnected: Error {
        /// The error number of the system.
        public let number: Int32
    }

    /// Connects to `http://127.0.0.1:port`.
    public init(_ url: String) throws {
        port = url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        // A server that is started meanwhile must not keep it open.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw NotConnected(number: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw NotConnected(number: errno) }
    }

    deinit {
        close()
    }

    /// Sends bytes; what the other side no longer takes is dropped.
    public func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Sends text.
    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Says that nothing more will be sent.
    public func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// What has come by now, at most `limit` bytes; nil once the other side has closed.
    ///
    /// Waits for something to come, a minute at the most.
    public func receive(_ limit: Int = 65_536) -> [UInt8]? {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, 60_000) == 1 else { return [] }
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &buffer, limit, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    /// Whether something has come, or the other side has closed.
    public var hasBytes: Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, 0) == 1
    }

    /// Everything that comes until the other side closes; nil when it does not close within a minute.
    public func receiveAll() -> String? {
        var text: [UInt8] = []
        while true {
            guard let more = receive() else { return String(decoding: text, as: UTF8.self) }
            if more.isEmpty { return nil }
            text += more
        }
    }

    /// Whether the other side, on this machine, still holds its end open.
    ///
    /// Its last word may be stuck behind what has not been read, so that the kernel is asked.
    public var otherSideIsOpen: Bool {
        get throws {
            var own = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = withUnsafeMutablePointer(to: &own) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(descriptor, $0, &length)
                }
            }
            func hex(_ port: UInt16) -> String {
                let digits = String(port, radix: 16, uppercase: true)
                return ":" + String(repeating: "0", count: 4 - digits.count) + digits
            }
            let (here, there) = (hex(UInt16(bigEndian: own.sin_port)), hex(port))
            // Files of the kernel have no size, which Foundation would ask for.
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/tcp"))
            let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            return table.split(separator: "\n").contains { line in
                let fields = line.split(separator: " ")
                return fields.count > 3 && fields[1].hasSuffix(there) && fields[2].hasSuffix(here)
                    && fields[3] == "01"
            }
        }
    }

    /// Ends the connection.
    public func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { Glibc.close(descriptor) }
    }
}
