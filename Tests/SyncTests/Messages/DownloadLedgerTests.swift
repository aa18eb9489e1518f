import BSON
import Sync
import Testing

@Suite("DOWNLOAD messages")
struct DownloadLedgerTests {
    static func ledger() -> DownloadLedger {
        DownloadLedger(
            session: SessionIdent(1),
            ownFile: 7,
            isFlexible: true,
            protocolVersion: 14,
            ident: ClientMessage.Ident(
                file: FileIdent(ident: 7, salt: 1),
                progress: DownloadCursor(server: 10, client: 5),
                latest: VersionSalt(version: 10, salt: 99),
                query: nil
            )
        )
    }

    static func progress(
        download: Int64 = 11,
        client: Int64 = 5,
        latest: Int64 = 12,
        upload: Int64 = 5,
        uploadServer: Int64 = 10
    ) -> DownloadLedger.Progress {
        DownloadLedger.Progress(
            download: DownloadCursor(server: download, client: client),
            latest: VersionSalt(version: latest, salt: 99),
            upload: DownloadCursor(server: uploadServer, client: upload)
        )
    }

    static func entry(_ version: Int64 = 11, client: Int64 = 5, file: Int64 = 1) -> DownloadLedger.Entry {
        DownloadLedger.Entry(
            serverVersion: version,
            clientVersion: client,
            timestamp: 1000,
            originFile: file,
            changeset: [1, 2, 3]
        )
    }

    @Test("are written as the client reads them")
    func text() throws {
        var ledger = Self.ledger()
        let message = try ledger.message(Self.progress(), [Self.entry()], queryVersion: 3)
        let expected = Array("download 1 11 5 12 99 5 10 3 2 1.0 0 19 0\n11 5 1000 1 3 3 ".utf8) + [1, 2, 3]
        #expect(message == expected)
    }

    @Test("pack a long body")
    func packed() throws {
        var ledger = Self.ledger()
        var entry = Self.entry()
        entry.changeset = [UInt8](repeating: 7, count: 5000)
        let message = try ledger.message(Self.progress(), [entry])
        #expect(String(decoding: message.prefix(60), as: UTF8.self).contains(" 1 5022 "))
        #expect(message.count < 200)
    }

    static let wrong: [(String, DownloadLedger.Progress, [DownloadLedger.Entry], DownloadLedger.Batch)] = [
        ("the cursor goes back", progress(download: 9, uploadServer: 0), [], .steadyState),
        ("the cursor is past the history", progress(download: 13), [], .steadyState),
        ("the upload is past the cursor", progress(uploadServer: 12), [], .steadyState),
        ("the client's version goes back", progress(client: 4), [], .steadyState),
        ("the client's version is past the upload", progress(client: 6), [], .steadyState),
        ("the history shrinks", progress(download: 9, latest: 9, uploadServer: 0), [], .steadyState),
        ("the upload goes back", progress(client: 4, upload: 4), [], .steadyState),
        ("an entry without version", progress(), [entry(0)], .steadyState),
        ("an entry before the cursor", progress(), [entry(9)], .steadyState),
        ("an entry past the cursor", progress(), [entry(12)], .steadyState),
        ("entries in the wrong order", progress(download: 12), [entry(12), entry(11)], .steadyState),
        ("an entry of an older client version", progress(), [entry(client: 4)], .steadyState),
        ("an entry of a newer client version", progress(), [entry(client: 6)], .steadyState),
        ("an entry of the receiver's own", progress(), [entry(file: 7)], .steadyState),
        ("a part of a bootstrap without entry", progress(), [], .moreToCome),
        ("a bootstrap without entry", progress(), [], .lastInBatch),
    ]

    @Test("are not sent with a number that the client refuses", arguments: wrong)
    func refused(
        name: String,
        progress: DownloadLedger.Progress,
        entries: [DownloadLedger.Entry],
        batch: DownloadLedger.Batch
    ) {
        var ledger = Self.ledger()
        #expect(throws: DownloadLedger.Violation.self, "\(name)") {
            try ledger.message(progress, entries, batch: batch)
        }
    }

    @Test("may end a bootstrap without entries when there were some")
    func endOfBootstrap() throws {
        var ledger = Self.ledger()
        _ = try ledger.message(Self.progress(), [Self.entry()], batch: .moreToCome, estimate: 0.25)
        #expect(throws: DownloadLedger.Violation.self) {
            try ledger.message(Self.progress(), [], batch: .steadyState)
        }
        let last = try ledger.message(Self.progress(), [], batch: .lastInBatch)
        #expect(String(decoding: last, as: UTF8.self).hasPrefix("download 1 11 5 12 99 5 10 0 1 1.0 0 0 0\n"))
    }
}
