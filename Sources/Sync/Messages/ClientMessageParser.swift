import BSON

/// Turns a device's message into a value.
///
/// Source: `realm-sync-protocol.md` §3.
public struct ClientMessageParser: Sendable {
    /// Whether the connection speaks Flexible Sync.
    public let isFlexible: Bool
    /// The longest JSON or partition value of a BIND, in bytes.
    static let bindLimit = 16 << 10
    /// The longest token, in bytes; the client sends none here.
    static let tokenLimit = 16 << 10
    /// The longest set of queries, in bytes; each query is held to 256 kB by itself.
    static let queryLimit = 4 << 20
    /// How large an upload may become when it is unpacked.
    static let uploadLimit = 64 << 20

    /// A parser for one connection.
    public init(isFlexible: Bool) {
        self.isFlexible = isFlexible
    }

    /// Reads one message.
    ///
    /// - Parameter message: A whole binary frame.
    /// - Returns: What it says.
    /// - Throws: ``SyncFault`` with a code that ends the connection.
    public func parse(_ message: [UInt8]) throws(SyncFault) -> ClientMessage {
        var fields = try HeaderFields(message)
        switch fields.name() {
        case "bind": return try bind(&fields)
        case "ident": return try ident(&fields)
        case "query": return try query(&fields)
        case "upload": return try upload(&fields)
        case "mark":
            let message = ClientMessage.mark(try fields.session(), request: try fields.count())
            _ = try fields.bodies()
            return message
        case "unbind":
            let message = ClientMessage.unbind(try fields.session())
            _ = try fields.bodies()
            return message
        case "ping":
            let timestamp = try fields.signed()
            _ = try fields.signed()
            _ = try fields.bodies()
            return .ping(timestamp: timestamp)
        case "json_error": return try error(&fields)
        case "test_command":
            let session = try fields.session()
            let request = try fields.count()
            let size = try limited(try fields.count(), Self.queryLimit)
            let body = try fields.bodies(size)[0]
            return .testCommand(session, request: request, body: try text(body))
        case let name:
            throw SyncFault(.unknownMessage, "Unknown type of input message: '\(printable(name))'")
        }
    }

    private func bind(_ fields: inout HeaderFields) throws(SyncFault) -> ClientMessage {
        let session = try fields.session()
        let size = try limited(try fields.count(), Self.bindLimit)
        let tokenSize = try limited(try fields.count(), Self.tokenLimit)
        let needsIdent = try fields.flag()
        _ = try fields.flag()
        let body = try text(try fields.bodies(size, tokenSize)[0])
        guard isFlexible else {
            return .bind(session, ClientMessage.Bind(target: .partition(body), needsIdent: needsIdent))
        }
        return .bind(session, ClientMessage.Bind(target: try flexible(body), needsIdent: needsIdent))
    }

    private func flexible(_ body: ByteText) throws(SyncFault) -> ClientMessage.Bind.Target {
        if body.text.isEmpty {
            return .flexible(schemaVersion: 0, isReset: false, migratedPartition: nil)
        }
        let json: BSONDocument
        do {
            json = try ExtendedJSON.document(body.text)
        } catch {
            throw SyncFault(.badSyntax, "Bad syntax in input message: the body of BIND is no JSON object")
        }
        if let partition = json["migratedPartition"], partition.string == nil {
            throw SyncFault(.badSyntax, "Bad syntax in input message: 'migratedPartition' is not a string")
        }
        return .flexible(
            schemaVersion: try number("schemaVersion", json),
            isReset: try number("sessionReason", json) == 1,
            migratedPartition: json["migratedPartition"]?.string.map { ByteText($0) }
        )
    }

    /// A member that is a number from 0; 0 where it is left out.
    private func number(_ name: String, _ json: BSONDocument) throws(SyncFault) -> Int64 {
        guard let value = json[name] else { return 0 }
        guard let number = value.exactInt64, number >= 0 else {
            throw SyncFault(.badSyntax, "Bad syntax in input message: '\(name)' is not a number from 0")
        }
        return number
    }

    private func ident(_ fields: inout HeaderFields) throws(SyncFault) -> ClientMessage {
        let session = try fields.session()
        var ident = ClientMessage.Ident(
            file: FileIdent(ident: try fields.count(), salt: try fields.signed()),
            progress: DownloadCursor(server: try fields.count(), client: try fields.count()),
            latest: VersionSalt(version: try fields.count(), salt: try fields.signed())
        )
        if isFlexible {
            let version = try fields.count()
            let size = try limited(try fields.count(), Self.queryLimit)
            let body = try fields.bodies(size)[0]
            ident.query = SubscriptionSet(version: version, body: try text(body))
        } else {
            _ = try fields.bodies()
        }
        return .ident(session, ident)
    }

    private func query(_ fields: inout HeaderFields) throws(SyncFault) -> ClientMessage {
        let session = try fields.session()
        guard isFlexible else {
            throw SyncFault(.badMessageOrder, "Bad input message order: QUERY without Flexible Sync")
        }
        let version = try fields.count()
        let size = try limited(try fields.count(), Self.queryLimit)
        let body = try fields.bodies(size)[0]
        return .query(session, SubscriptionSet(version: version, body: try text(body)))
    }

    private func upload(_ fields: inout HeaderFields) throws(SyncFault) -> ClientMessage {
        let session = try fields.session()
        let isCompressed = try fields.flag()
        let size = try fields.count()
        let compressedSize = try fields.count()
        var upload = ClientMessage.Upload(
            clientVersion: try fields.count(),
            serverVersion: try fields.count(),
            lockedServerVersion: try fields.count(),
            changesets: []
        )
        guard size <= Self.uploadLimit else {
            throw SyncFault(.badChangesetSize, "Bad size: an upload of \(size) bytes is too large")
        }
        let body = try fields.bodies(isCompressed ? compressedSize : size)[0]
        let unpacked = isCompressed ? try Deflation.inflate(body, size: Int(size))[...] : body
        upload.changesets = try UploadBody.changesets(unpacked)
        return .upload(session, upload)
    }

    private func error(_ fields: inout HeaderFields) throws(SyncFault) -> ClientMessage {
        let code = try fields.signed()
        let size = try limited(try fields.count(), Self.queryLimit)
        let session = try fields.count()
        let body = try text(try fields.bodies(size)[0])
        let message = (try? ExtendedJSON.document(body.text))?["message"]?.string
        return .error(
            session == 0 ? nil : SessionIdent(session),
            code: code,
            message: message ?? ""
        )
    }

    private func limited(_ size: Int64, _ limit: Int) throws(SyncFault) -> Int64 {
        guard size <= limit else {
            throw SyncFault(.badSyntax, "Bad syntax in input message head: \(size) bytes are too many")
        }
        return size
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws(SyncFault) -> ByteText {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SyncFault(.badSyntax, "Bad syntax in input message: a text is not UTF-8")
        }
        return ByteText(text)
    }

    private func printable(_ name: String) -> String {
        String(
            name.unicodeScalars.filter { $0.isASCII && $0.value >= 0x20 && $0.value < 0x7F }.prefix(40).map(
                Character.init
            )
        )
    }
}
