import BSON
import Errors
import Postgres
import SQL
import Sync

/// Reads and writes rows of the history.
enum SyncHistoryReader {
    static func entries(_ rows: ResultSet) throws -> [SyncHistoryEntry] {
        var entries: [SyncHistoryEntry] = []
        for row in 0..<rows.rowCount {
            guard let version = rows.int(row, 0) else { throw malformed }
            if entries.last?.version != Int64(version) { entries.append(try head(rows, row, Int64(version))) }
            guard let table = rows.text(row, 7) else { continue }
            guard let key = rows.text(row, 8).flatMap(SyncKeyText.key) else { throw malformed }
            entries[entries.count - 1].objects.append(
                SyncHistoryEntry.Object(
                    address: ObjectAddress(table: ByteText(table), key: key),
                    before: try image(rows, row, 9),
                    after: try image(rows, row, 10)
                )
            )
        }
        return entries
    }

    private static func head(_ rows: ResultSet, _ row: Int, _ version: Int64) throws -> SyncHistoryEntry {
        guard let origin = rows.int(row, 1), let client = rows.int(row, 2), let time = rows.int(row, 4),
            let schemaVersion = rows.int(row, 11),
            let bytes = rows.slice(row, 5).flatMap({ SyncBytes.bytea($0) })
        else { throw malformed }
        return SyncHistoryEntry(
            version: version,
            originFile: Int64(origin),
            clientVersion: Int64(client),
            targetFile: rows.int(row, 3).map { Int64($0) },
            timestamp: Int64(time),
            changeset: try ChangesetReader.read(bytes[...]),
            schemaVersion: Int64(schemaVersion),
            objects: [],
            rejections: try rejections(rows, row)
        )
    }

    private static func rejections(_ rows: ResultSet, _ row: Int) throws -> [SyncErrorReport.RejectedUpdate] {
        guard let text = rows.slice(row, 6) else { return [] }
        return try (ExtendedJSON.readValue(Array(text)).array ?? []).map { value in
            guard let item = value.document, let table = item["table"]?.string,
                let reason = item["reason"]?.string,
                let key = item["key"]?.string.flatMap(SyncKeyText.key)
            else { throw malformed }
            return SyncErrorReport.RejectedUpdate(
                object: ObjectAddress(table: ByteText(table), key: key),
                reason: reason
            )
        }
    }

    private static func image(_ rows: ResultSet, _ row: Int, _ column: Int) throws -> BSONDocument? {
        guard let text = rows.slice(row, column) else { return nil }
        guard let bytes = SyncBytes.bytea(text) else { throw malformed }
        return try BSONBinaryFormat.read(bytes)
    }

    /// Appends versions and their documents; ``SyncUnsynced`` learns with which forms of their classes.
    static func append(
        _ entries: [SyncHistoryEntry],
        _ app: SyncedApp,
        in transaction: Transaction
    ) async throws {
        let id = app.snapshot.id
        var columns = SyncObjectColumns()
        for entry in entries {
            _ = try await transaction.run(SyncStatements.append(id, entry), plan: .generic)
            for (place, object) in entry.objects.enumerated() {
                columns.versions.append(entry.version)
                columns.places.append(Int32(place))
                columns.classes.append(object.address.table.text)
                columns.keys.append(SyncKeyText.text(of: object.address.key))
                columns.before.append(try base64(object.before))
                columns.after.append(try base64(object.after))
            }
        }
        guard !columns.isEmpty else { return }
        let forms = Set(columns.classes).compactMap { name in
            app.newest.forms[app.newest.ownName(of: ByteText(name)).text]
        }
        _ = try await transaction.run(SyncStatements.append(id, columns, forms), plan: .generic)
    }

    private static func base64(_ document: BSONDocument?) throws -> String {
        guard let document else { return "" }
        var text: [UInt8] = []
        Base64.append(try BSONBinaryFormat.write(document), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    static let malformed = ServiceError(.internalServerError, "a row of the sync history is malformed")
}
