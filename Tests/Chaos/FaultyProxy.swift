import Glibc
import Synchronization
import Threading

/// Stands between gateways and PostgreSQL and passes bytes on, until it is told to misbehave.
final class FaultyProxy: Sendable {
    /// What it does with bytes.
    enum Mood {
        case passing
        /// Holds everything back; what was held goes on when the mood changes.
        case stalling
        /// As a firewall that forgot: connections made in this mood are accepted and never answered, ever.
        case deaf
    }

    private struct State {
        var mood = Mood.passing
        var links: [Link] = []
    }

    /// The folder in which it listens, for `host=` of a connection string.
    let directory: String
    private let server: String
    private let state = Mutex(State())

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - directory: Where its socket will be.
    ///   - server: Where PostgreSQL's socket is.
    init(directory: String, server: String) {
        self.directory = directory
        self.server = server + "/.s.PGSQL.5432"
        let listener = UnixSocket.listen(directory + "/.s.PGSQL.5432")
        DedicatedThread.start(name: "proxy") { self.serve(listener) }
    }

    /// Changes how new and open connections are treated.
    func become(_ mood: Mood) {
        state.withLock { $0.mood = mood }
    }

    /// Cuts every open connection, some after a few more bytes: in the middle of a message.
    func cutAll(bytesLeft: (Int) -> Int) {
        let links = state.withLock { $0.links }
        for (index, link) in links.enumerated() { link.allow(bytes: bytesLeft(index)) }
    }

    private func serve(_ listener: Int32) {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { continue }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            let mood = state.withLock { $0.mood }
            if case .deaf = mood { continue }
            guard let upstream = UnixSocket.connect(server) else {
                close(client)
                continue
            }
            let link = Link(client: client, server: upstream)
            state.withLock { state in
                state.links.removeAll { $0.isOver }
                state.links.append(link)
            }
            DedicatedThread.start(name: "proxy-up") { self.pump(link, from: client, to: upstream) }
            DedicatedThread.start(name: "proxy-down") { self.pump(link, from: upstream, to: client) }
        }
    }

    private func pump(_ link: Link, from source: Int32, to sink: Int32) {
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = recv(source, &chunk, chunk.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            while case .stalling = state.withLock({ $0.mood }), !link.isOver { usleep(5000) }
            let allowed = link.take(count)
            var sent = 0
            while sent < allowed {
                let done = chunk[sent..<allowed].withUnsafeBytes {
                    send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard done > 0 else { break }
                sent += done
            }
            guard sent == count else { break }
        }
        link.end()
    }
}

/// Two sockets that belong together, and how much may still pass between them.
private final class Link: Sendable {
    private struct State {
        var bytesLeft = Int.max
        var isOver = false
        var pumps = 2
    }

    private let client: Int32
    private let server: Int32
    private let state = Mutex(State())

    init(client: Int32, server: Int32) {
        self.client = client
        self.server = server
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Lets this many more bytes through and then breaks; at once when none.
    func allow(bytes: Int) {
        state.withLock { $0.bytesLeft = bytes }
        if bytes == 0 { breakOff() }
    }

    /// How many of these bytes may pass.
    func take(_ count: Int) -> Int {
        state.withLock { state in
            let allowed = min(count, state.bytesLeft)
            if state.bytesLeft != .max { state.bytesLeft -= allowed }
            return allowed
        }
    }

    /// One direction has ended; the sockets are closed when both have.
    func end() {
        breakOff()
        let isLast = state.withLock { state in
            state.pumps -= 1
            return state.pumps == 0
        }
        guard isLast else { return }
        close(client)
        close(server)
    }

    private func breakOff() {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }
}
