package import BSON
import Foundation
package import Sync
package import TestSupport

/// A device: a file with a real state, and the connection that it speaks on.
///
/// Everything happens when it is told to, in the caller's thread, so that a script decides what is late.
package final class RealmClient {
    package var file: RealmFile
    /// Which gateway the next connection goes to.
    package var url: String
    private let app: String
    private let token: String
    /// What the file holds, in extended JSON; nil in Flexible Sync.
    package internal(set) var partition: String?
    /// What it held before it changed over to Flexible Sync.
    package internal(set) var migratedPartition: String?
    package private(set) var socket: WireSocket?
    package private(set) var session: Int64 = 0
    /// Of the file, the newest version that was sent on this connection.
    private var sentVersion: Int64 = 0
    private var sentServer: Int64 = -1
    private var lastMark: Int64 = 0
    private var answeredMark: Int64 = 0
    private var lastQuery: Int64 = 0
    private var downloads = 0
    /// The error that ended the session.
    package private(set) var error: (code: Int64, body: BSONDocument)?
    /// How many messages came, of all connections.
    package private(set) var received = 0
    /// The sizes of what came to be integrated, unpacked, and what was said to follow, of all connections.
    package private(set) var parts: [(bytes: Int, isLast: Bool)] = []
    /// The version of the schema that the application has.
    package var schemaVersion = 0
    /// The version of the schema that the server says the file is of, when it is another.
    package private(set) var previousSchemaVersion: Int64?
    /// Why the session is opened: 0 as usual, 1 around a client reset.
    package var reason = 0
    /// The session of a fresh copy says nothing of changes.
    var isDownloadOnly = false

    package init(url: String, app: String, token: String, file: RealmFile, partition: String? = nil) {
        self.url = url
        self.app = app
        self.token = token
        self.file = file
        self.partition = partition
    }

    package convenience init(
        _ api: APICaller,
        _ user: APICaller.User,
        schema: [Instruction],
        partition: String? = nil
    ) {
        self.init(
            url: api.server.http,
            app: api.app,
            token: user.accessToken,
            file: RealmFile(schema: schema, isFlexible: partition == nil),
            partition: partition
        )
    }

    private var protocols: String {
        partition == nil ? "com.mongodb.realm-query-sync#14" : "com.mongodb.realm-sync#14"
    }

    /// The session was ended by the server.
    package struct Ended: Error, CustomStringConvertible {
        package let code: Int64
        package let description: String
    }

    package var isConnected: Bool { socket != nil }

    // MARK: Connection

    /// Opens a socket and a session on it, and waits for the first message.
    package func connect() throws {
        // Longer than it takes to notice that a gateway, or a device, is gone.
        let end = Date().addingTimeInterval(240)
        while true {
            disconnect()
            socket = try WireSocket(url, app: app, token: token, protocols: protocols)
            guard socket?.head.hasPrefix("HTTP/1.1 101 ") == true else {
                let head = socket?.head ?? ""
                disconnect()
                throw WireSocket.Closed(why: head)
            }
            do {
                try open()
                return
            } catch let error as Ended where error.code == 108 && Date() < end {
                // The server has not noticed yet that the connection before this one is lost.
                usleep(10_000)
            }
        }
    }

    /// Loses the connection without a word.
    package func disconnect() {
        socket?.close()
        socket = nil
        file.disconnect()
    }

    /// Ends the session as devices do, and the connection.
    package func close() throws {
        try unbind()
        disconnect()
    }

    /// Ends the session, and leaves the socket for others.
    func unbind() throws {
        send("unbind \(session)\n")
        while let socket {
            let (session, message) = try WireMessage.read(
                try socket.receive(),
                isFlexible: partition == nil
            )
            if case .unbound = message, session == self.session { break }
            try take(session, message)
        }
        file.disconnect()
    }

    /// Opens a socket without a session.
    func connectForReset() throws {
        socket = try WireSocket(url, app: app, token: token, protocols: protocols)
    }

    /// Opens a session on the socket.
    package func open() throws {
        session += 1
        (sentServer, lastMark, answeredMark, downloads, error) = (-1, 0, 0, 0, nil)
        previousSchemaVersion = nil
        let migrated = migratedPartition.map { text in
            let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\"migratedPartition\":\"\(escaped)\","
        }
        let body =
            partition ?? #"{\#(migrated ?? "")"schemaVersion":\#(schemaVersion),"sessionReason":\#(reason)}"#
        send("bind \(session) \(body.utf8.count) 0 \(file.ident == nil ? 1 : 0) 0\n\(body)")
        while file.ident == nil { try receive() }
        let rules = file.rules
        let active = file.subscriptions.active
        lastQuery = active.version
        sentVersion = rules.acknowledged
        let ident =
            "ident \(session) \(file.ownFile) \(file.ident?.salt ?? 0) \(rules.server) \(rules.client) "
            + "\(rules.latest.version) \(rules.latest.salt)"
        let query = " \(active.version) \(active.body.utf8.count)\n\(active.body)"
        send(ident + (partition == nil ? query : "\n"))
        while downloads == 0 { try receive() }
        for set in file.subscriptions.waiting { try tell(set) }
    }

    package func send(_ message: String) { socket?.send(message) }

    // MARK: What the device says

    /// Sends changes, so many at the most, that were not sent on this connection.
    package func upload(limit: Int = .max) {
        guard isConnected, error == nil, !isDownloadOnly else { return }
        let fresh = file.unsent.filter { Int64($0.entry.version) > sentVersion }
        let chosen = fresh.prefix(limit)
        var progress = (client: file.version, server: file.serverVersion)
        if chosen.count < fresh.count {
            guard let last = chosen.last else { return }
            progress = (Int64(last.entry.version), Int64(last.base))
        }
        guard !chosen.isEmpty || progress.server > sentServer else { return }
        var body: [UInt8] = []
        for change in chosen {
            let bytes = ChangesetWriter.write(change.entry.changeset)
            let head = "\(change.entry.version) \(change.base) \(change.entry.timestamp) 0 \(bytes.count) "
            body += Array(head.utf8) + bytes
        }
        let packed = body.count > 1024 ? Deflation.deflate(body) : nil
        let locked = file.unsent.first.map { Int64($0.base) } ?? progress.server
        let head =
            "upload \(session) \(packed == nil ? 0 : 1) \(body.count) \(packed?.count ?? 0) "
            + "\(progress.client) \(progress.server) \(min(locked, progress.server))\n"
        sentVersion = progress.client
        sentServer = progress.server
        file.report(server: progress.server)
        socket?.send(Array(head.utf8) + (packed ?? body))
    }

    /// Commits a set of subscriptions; what was changed before goes out first.
    @discardableResult
    package func subscribe(_ queries: [String: String]) throws -> Int64 {
        let set = file.subscriptions.commit(queries, snapshot: file.version)
        if isConnected, error == nil { try tell(set) }
        return set.version
    }

    private func tell(_ set: SubscriptionSets.Set) throws {
        upload()
        send("query \(session) \(set.version) \(set.body.utf8.count)\n\(set.body)")
        mark()
    }

    /// Asks to be told when everything that is there now has come.
    package func mark() {
        lastMark += 1
        file.subscriptions.markSent(lastMark)
        send("mark \(session) \(lastMark)\n")
    }

    // MARK: What the server says

    /// Takes messages until everything has come that is there now.
    package func catchUp() throws {
        mark()
        while answeredMark < lastMark { try receive() }
    }

    /// Takes what has come.
    package func drain(limit: Int = .max) throws {
        var count = 0
        while count < limit, socket?.hasMore == true {
            try receive()
            count += 1
        }
    }

    /// Takes the next message; waits for it.
    package func receive() throws {
        guard let socket else { throw WireSocket.Closed(why: "not connected") }
        let (session, message) = try WireMessage.read(try socket.receive(), isFlexible: partition == nil)
        try take(session, message)
    }

    private func take(_ session: Int64, _ message: WireMessage) throws {
        received += 1
        guard session == self.session || session == 0 else {
            throw BrokenRule("a message for session \(session), and \(self.session) is open: \(message)")
        }
        if error != nil { throw BrokenRule("a message after the session's error: \(message)") }
        switch message {
        case .ident(let ident, let salt):
            guard file.ident == nil else { throw BrokenRule("a second identifier") }
            file.take(ident: (ident, salt))
        case .download(let download):
            downloads += 1
            parts.append((download.size, download.progress == 1))
            try file.integrate(download)
        case .mark(let request):
            guard request > answeredMark, request <= lastMark else {
                throw BrokenRule("MARK \(request) is answered after \(answeredMark)")
            }
            answeredMark = request
            file.subscriptions.markAnswered(request)
        case .queryError(let code, let version, let text):
            guard code == 226 else { throw BrokenRule("a query is refused with \(code)") }
            try file.subscriptions.failed(version, text)
        case .error(231, let body): try file.announce(body)
        case .error(236, let body):
            guard body["action"] == .string("MigrateSchema"),
                let previous = body["previousSchemaVersion"]?.exactInt64, previous != schemaVersion
            else { throw BrokenRule("no migration: \(body)") }
            previousSchemaVersion = previous
        case .error(let code, let body):
            error = (code, body)
            throw Ended(code: code, description: "error \(code): \(body["message"]?.string ?? "")")
        case .unbound, .pong: throw BrokenRule("nothing was asked that is answered by \(message)")
        case .log: break
        }
    }
}
