package import BSON
package import Sync

/// What a server said that it must not say; realm-core would end the connection or worse.
package struct BrokenRule: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A message of the server, taken apart as strictly as realm-core does.
///
/// Source: `realm-sync-protocol.md` §§2, 4.
package enum WireMessage {
    case ident(file: UInt64, salt: Int64)
    case download(WireDownload)
    case mark(Int64)
    case unbound
    case pong(Int64)
    case error(code: Int64, body: BSONDocument)
    case queryError(code: Int64, version: Int64, text: String)
    case log

    /// - Parameters:
    ///   - bytes: One frame.
    ///   - isFlexible: Whether the connection speaks Flexible Sync.
    /// - Returns: The session, 0 for the connection, and the message.
    /// - Throws: ``BrokenRule``.
    package static func read(
        _ bytes: [UInt8],
        isFlexible: Bool = true
    ) throws -> (session: Int64, message: WireMessage) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            throw BrokenRule("a message without an end of its head")
        }
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        var fields = WireFields(head)
        let body = Array(bytes[(end + 1)...])
        let name = try fields.text()
        func size(_ count: Int64) throws -> String {
            guard body.count == Int(count) else {
                throw BrokenRule("\(head): \(body.count) bytes follow")
            }
            return String(decoding: body, as: UTF8.self)
        }
        let result: (Int64, WireMessage)
        switch name {
        case "ident":
            result = (
                try fields.number(from: 1),
                .ident(file: UInt64(try fields.number(from: 1)), salt: try fields.number(from: 1))
            )
        case "download": result = try WireDownload.read(&fields, body, isFlexible)
        case "mark": result = (try fields.number(from: 1), .mark(try fields.number(from: 1)))
        case "unbound": result = (try fields.number(from: 1), .unbound)
        case "pong": result = (0, .pong(try fields.number()))
        case "json_error":
            let code = try fields.number(from: 100)
            let text = try size(try fields.number())
            let session = try fields.number()
            guard (code < 200) == (session == 0) else { throw BrokenRule("\(head): the wrong level") }
            result = (session, .error(code: code, body: try errorBody(text)))
        case "query_error":
            let code = try fields.number(from: 200)
            let text = try size(try fields.number())
            let session = try fields.number(from: 1)
            result = (session, .queryError(code: code, version: try fields.number(), text: text))
        case "log_message":
            let session = try fields.number()
            _ = try ExtendedJSON.document(try size(try fields.number()))
            result = (session, .log)
        default: throw BrokenRule("no message is called \(name)")
        }
        try fields.end()
        if case .download = result.1 { return result }
        switch name {
        case "json_error", "query_error", "log_message": break
        default: _ = try size(0)
        }
        return result
    }

    /// Members without which realm-core ends the connection.
    private static func errorBody(_ text: String) throws -> BSONDocument {
        let body = try ExtendedJSON.document(text)
        for name in ["message", "action", "logURL"] where body[name]?.string == nil {
            throw BrokenRule("an error without \(name): \(text)")
        }
        for name in ["tryAgain", "shouldClientReset", "isRecoveryModeDisabled"] {
            guard case .bool? = body[name] else { throw BrokenRule("an error without \(name): \(text)") }
        }
        if body["rejectedUpdates"] != nil, body["rejectedClientVersion"]?.exactInt64 == nil {
            throw BrokenRule("rejected updates without their version: \(text)")
        }
        return body
    }
}

/// The fields of a head: one space between them, none at the end.
package struct WireFields {
    private var rest: [Substring]

    package init(_ head: String) {
        rest = head.split(separator: " ", omittingEmptySubsequences: false)
    }

    package mutating func text() throws -> String {
        guard let first = rest.first, !first.isEmpty else { throw BrokenRule("a field is missing") }
        rest.removeFirst()
        return String(first)
    }

    package mutating func number(from least: Int64 = 0) throws -> Int64 {
        let text = try text()
        guard let number = Int64(text), String(number) == text, number >= least else {
            throw BrokenRule("\(text) is not a number from \(least)")
        }
        return number
    }

    package mutating func flag() throws -> Bool {
        let number = try number()
        guard number < 2 else { throw BrokenRule("\(number) is neither 0 nor 1") }
        return number == 1
    }

    package func end() throws {
        guard rest.isEmpty else { throw BrokenRule("\(rest.count) fields too many") }
    }
}

/// A DOWNLOAD, unpacked; without Flexible Sync it is always in steady state.
package struct WireDownload: Sendable {
    package struct Entry: Sendable {
        package let serverVersion: Int64
        package let clientVersion: Int64
        package let timestamp: Int64
        package let originFile: Int64
        package let changeset: Changeset
    }

    package let server: Int64
    package let client: Int64
    package let latest: Int64
    package let salt: Int64
    package let uploadClient: Int64
    package let uploadServer: Int64
    package let queryVersion: Int64
    /// 0 more to come, 1 last in batch, 2 steady state.
    package let batch: Int64
    package let progress: Double
    /// How large the body is, unpacked, in bytes.
    package let size: Int
    package let entries: [Entry]

    static func read(
        _ fields: inout WireFields,
        _ body: [UInt8],
        _ isFlexible: Bool
    ) throws -> (Int64, WireMessage) {
        let session = try fields.number(from: 1)
        let server = try fields.number()
        let client = try fields.number()
        let latest = try fields.number()
        let salt = try fields.number()
        let uploadClient = try fields.number()
        let uploadServer = try fields.number()
        let queryVersion = isFlexible ? try fields.number() : 0
        let batch = isFlexible ? try fields.number() : 2
        // Without Flexible Sync the bytes that are left.
        let estimate = isFlexible ? try fields.text() : String(try fields.number() == 0 ? 1 : 0)
        guard let progress = Double(estimate) else { throw BrokenRule("\(estimate) is no progress") }
        let isPacked = try fields.flag()
        let size = Int(try fields.number())
        let packedSize = Int(try fields.number())
        guard body.count == (isPacked ? packedSize : size), isPacked || packedSize == 0 else {
            throw BrokenRule("a body of \(body.count) bytes, and \(size) and \(packedSize) were promised")
        }
        let download = WireDownload(
            server: server,
            client: client,
            latest: latest,
            salt: salt,
            uploadClient: uploadClient,
            uploadServer: uploadServer,
            queryVersion: queryVersion,
            batch: batch,
            progress: progress,
            size: size,
            entries: try entries(isPacked ? try Deflation.inflate(body[...], size: size) : body)
        )
        return (session, .download(download))
    }

    private static func entries(_ body: [UInt8]) throws -> [Entry] {
        var entries: [Entry] = []
        var rest = body[...]
        func number() throws -> Int64 {
            guard let space = rest.firstIndex(of: UInt8(ascii: " ")),
                let number = Int64(String(decoding: rest[..<space], as: UTF8.self))
            else { throw BrokenRule("an entry without a number") }
            rest = rest[(space + 1)...]
            return number
        }
        while !rest.isEmpty {
            let numbers = [try number(), try number(), try number(), try number()]
            _ = try number()
            let size = Int(try number())
            guard size <= rest.count else { throw BrokenRule("an entry is cut off") }
            entries.append(
                Entry(
                    serverVersion: numbers[0],
                    clientVersion: numbers[1],
                    timestamp: numbers[2],
                    originFile: numbers[3],
                    changeset: try ChangesetReader.read(rest.prefix(size))
                )
            )
            rest = rest.dropFirst(size)
        }
        return entries
    }
}
