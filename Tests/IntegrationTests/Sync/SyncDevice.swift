import BSON
import Foundation
import Sync
import SyncModel
import TestSupport

/// A device on a socket of its own: it says what it is told to, and takes messages apart.
final class SyncDevice {
    /// A message of the server: the fields of its head, and its body, unpacked.
    struct Message {
        let fields: [String]
        let body: [UInt8]
        var name: String { fields.first ?? "" }
        var text: String { String(decoding: body, as: UTF8.self) }

        func number(_ field: Int) -> Int64 { Int64(fields[field]) ?? -1 }
    }

    typealias Closed = WireSocket.Closed

    let api: APICaller
    let user: APICaller.User
    /// What it says that it speaks.
    let protocols: String
    private let socket: WireSocket
    /// The answer to the request for the socket.
    var head: String { socket.head }
    private(set) var file: (ident: Int64, salt: Int64) = (0, 0)
    /// Where the download stands: server's version, own version, newest version, salt.
    private(set) var progress: (server: Int64, client: Int64, latest: Int64, salt: Int64) = (0, 0, 0, 0)
    /// Of this device's changes.
    private(set) var version: Int64 = 1

    init(_ api: APICaller, _ user: APICaller.User, protocols: String = "com.mongodb.realm-query-sync#14")
        throws
    {
        self.api = api
        self.user = user
        self.protocols = protocols
        socket = try WireSocket(
            api.server.http,
            app: api.app,
            token: user.accessToken,
            protocols: protocols
        )
    }

    /// Binds a new file, and takes the schema.
    @discardableResult
    func begin(schemaVersion: Int = 0) throws -> Message {
        let body = #"{"schemaVersion":\#(schemaVersion),"sessionReason":0}"#
        send("bind 1 \(body.utf8.count) 0 1 0\n\(body)")
        let ident = try receive()
        file = (ident.number(2), ident.number(3))
        send("ident 1 \(file.ident) \(file.salt) 0 0 0 0 0 2\n{}")
        return try receive()
    }

    /// Begins with a copy of what another device holds, as one that was shipped with the application.
    func begin(asCopyOf other: SyncDevice, _ queryVersion: Int, _ query: String) throws {
        let body = #"{"schemaVersion":0,"sessionReason":0}"#
        send("bind 1 \(body.utf8.count) 0 1 0\n\(body)")
        let ident = try receive()
        file = (ident.number(2), ident.number(3))
        progress = other.progress
        // Of its own changes there are none yet.
        send(
            "ident 1 \(file.ident) \(file.salt) \(progress.server) 0 \(progress.latest) \(progress.salt) "
                + "\(queryVersion) \(query.utf8.count)\n\(query)"
        )
    }

    /// Goes on with the file of another device.
    func resume(_ other: SyncDevice, _ queryVersion: Int, _ query: String) {
        (file, progress, version) = (other.file, other.progress, other.version)
        rebind(queryVersion, query)
    }

    /// Binds its file again, with the query that was complete.
    func rebind(_ queryVersion: Int, _ query: String) {
        let body = #"{"schemaVersion":0,"sessionReason":0}"#
        send("bind 1 \(body.utf8.count) 0 0 0\n\(body)")
        let (server, client, latest, salt) = progress
        send(
            "ident 1 \(file.ident) \(file.salt) \(server) \(client) \(latest) \(salt) "
                + "\(queryVersion) \(query.utf8.count)\n\(query)"
        )
    }

    /// Goes without a word.
    func close() { socket.close() }

    /// Asks for other objects, and takes what comes until all of it is there.
    func subscribe(_ version: Int, _ query: String) throws -> [Message] {
        send("query 1 \(version) \(query.utf8.count)\n\(query)")
        return try catchUp(Int64(version))
    }

    /// Everything up to what is there now.
    func catchUp(_ request: Int64) throws -> [Message] {
        send("mark 1 \(request)\n")
        var messages: [Message] = []
        while true {
            let message = try receive()
            if message.name == "mark", message.number(2) == request { return messages }
            messages.append(message)
        }
    }

    /// Sends one change.
    func upload(_ instructions: [Instruction]) {
        version += 1
        let changeset = ChangesetWriter.write(Changeset(instructions))
        let head = "\(version) \(progress.server) 375000000000 0 \(changeset.count) "
        let size = head.utf8.count + changeset.count
        send(
            Array("upload 1 0 \(size) 0 \(version) \(progress.server) \(progress.server)\n\(head)".utf8)
                + changeset
        )
    }

    func send(_ message: String) { send(Array(message.utf8)) }

    func send(_ message: [UInt8]) { socket.send(message) }

    /// The next message.
    func receive() throws -> Message { take(try socket.receive()) }

    private func take(_ payload: [UInt8]) -> Message {
        let end = payload.firstIndex(of: UInt8(ascii: "\n")) ?? payload.endIndex
        let message = Message(
            fields: String(decoding: payload[..<end], as: UTF8.self).split(separator: " ").map(String.init),
            body: Array(payload[min(end + 1, payload.count)...])
        )
        if message.name == "download" {
            progress = (message.number(2), message.number(3), message.number(4), message.number(5))
        }
        return message
    }
}

extension SyncDevice.Message {
    /// An entry of a DOWNLOAD: the server's version of a change, and what the change does.
    struct Entry {
        let version: Int64
        let instructions: [Instruction]
    }

    /// The entries of a DOWNLOAD that is not packed.
    var entries: [Entry] {
        var found: [Entry] = []
        var rest = body[...]
        while !rest.isEmpty {
            var numbers: [Int64] = []
            for _ in 0..<6 {
                guard let space = rest.firstIndex(of: UInt8(ascii: " ")) else { return found }
                numbers.append(Int64(String(decoding: rest[..<space], as: UTF8.self)) ?? 0)
                rest = rest[(space + 1)...]
            }
            let size = Int(numbers[5])
            let changes = (try? ChangesetReader.read(rest.prefix(size)))?.instructions ?? []
            found.append(Entry(version: numbers[0], instructions: changes))
            rest = rest.dropFirst(size)
        }
        return found
    }

    var instructions: [Instruction] { entries.flatMap(\.instructions) }
}
