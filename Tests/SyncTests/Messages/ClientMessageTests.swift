import BSON
import Sync
import Testing

@Suite("Messages of devices")
struct ClientMessageTests {
    let parser = ClientMessageParser(isFlexible: true)
    let session = SessionIdent(1)

    func parse(_ text: String) throws -> ClientMessage { try parser.parse(Array(text.utf8)) }

    @Test("reads BIND")
    func bind() throws {
        let body = #"{"schemaVersion":0,"sessionReason":1}"#
        let expected = ClientMessage.bind(
            session,
            ClientMessage.Bind(
                target: .flexible(schemaVersion: 0, isReset: true, migratedPartition: nil),
                needsIdent: true
            )
        )
        #expect(try parse("bind 1 37 0 1 0\n\(body)") == expected)
    }

    @Test("reads BIND of a partition")
    func partition() throws {
        let parser = ClientMessageParser(isFlexible: false)
        let expected = ClientMessage.bind(
            session,
            ClientMessage.Bind(target: .partition(ByteText(#""abc""#)), needsIdent: false)
        )
        #expect(try parser.parse(Array("bind 1 5 0 0 0\n\"abc\"".utf8)) == expected)
    }

    @Test("reads IDENT")
    func ident() throws {
        let expected = ClientMessage.ident(
            session,
            ClientMessage.Ident(
                file: FileIdent(ident: 7, salt: 123_456_789),
                progress: DownloadCursor(server: 569, client: 571),
                latest: VersionSalt(version: 570, salt: -5),
                query: SubscriptionSet(version: 2, body: ByteText("{}"))
            )
        )
        #expect(try parse("ident 1 7 123456789 569 571 570 -5 2 2\n{}") == expected)
    }

    @Test("reads UPLOAD with its changesets")
    func upload() throws {
        guard
            case .upload(_, let upload) = try parse(
                "upload 1 0 42 0 5 10 9\n4 10 77 0 2 ab5 10 99 0 15 ?0123456789abcd"
            )
        else {
            Issue.record("no upload")
            return
        }
        #expect(upload.clientVersion == 5)
        #expect(upload.serverVersion == 10)
        #expect(upload.lockedServerVersion == 9)
        #expect(upload.changesets.map(\.clientVersion) == [4, 5])
        #expect(upload.changesets.map(\.timestamp) == [77, 99])
        #expect(upload.changesets.map(\.bytes.count) == [2, 15])
    }

    @Test("reads what has no body")
    func small() throws {
        #expect(try parse("mark 1 8\n") == .mark(session, request: 8))
        #expect(try parse("unbind 1\n") == .unbind(session))
        #expect(try parse("ping 12 3\n") == .ping(timestamp: 12))
    }

    static let broken: [(String, SyncErrorCode)] = [
        ("", .badSyntax),
        ("mark 1 8", .badSyntax),
        ("mark  1 8\n", .badSyntax),
        ("mark 1 8 \n", .badSyntax),
        ("mark 1\n", .badSyntax),
        ("mark 1 8 9\n", .badSyntax),
        ("mark 0 8\n", .badSyntax),
        ("mark -1 8\n", .badSyntax),
        ("mark 99999999999999999999 8\n", .badSyntax),
        ("mark 1 8\nx", .badSyntax),
        ("query 1 1 5\n{}", .badSyntax),
        ("query 1 1 999999999\n{}", .badSyntax),
        ("bind 1 2 0 1 0\n[]", .badSyntax),
        ("bind 1 2 0 7 0\n{}", .badSyntax),
        (#"bind 1 20 0 1 0"# + "\n" + #"{"schemaVersion":{}}"#, .badSyntax),
        (#"bind 1 21 0 1 0"# + "\n" + #"{"sessionReason":"1"}"#, .badSyntax),
        (#"bind 1 24 0 1 0"# + "\n" + #"{"migratedPartition":{}}"#, .badSyntax),
        ("transact 1\n", .unknownMessage),
        (String(repeating: "x", count: 400), .badSyntax),
        ("upload 1 0 5 0 1 0 0\n1 0 0", .badChangesetHeaderSyntax),
        ("upload 1 0 6 0 1 0 0\n1 0 0 ", .badChangesetHeaderSyntax),
        ("upload 1 0 11 0 1 0 0\n1 0 0 0 9 a", .badChangesetSize),
        ("upload 1 1 100 3 1 0 0\nabc", .badDecompression),
        ("upload 1 1 60000000 3 1 0 0\nabc", .badDecompression),
        ("upload 1 0 99999999999 0 1 0 0\n", .badChangesetSize),
    ]

    @Test("refuses what is malformed", arguments: broken)
    func refuses(message: String, code: SyncErrorCode) {
        let fault = #expect(throws: SyncFault.self) { try parse(message) }
        #expect(fault?.code == code)
        #expect(fault?.code.endsConnection == true)
    }

    @Test("never fails otherwise on bytes that were changed at random")
    func random() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            var bytes = Array("upload 1 0 42 0 5 10 9\n4 10 77 0 2 ab5 10 99 0 15 ?0123456789abcd".utf8)
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try? parser.parse(bytes)
        }
    }
}
