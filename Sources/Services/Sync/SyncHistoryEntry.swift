import BSON
import Errors
import SQL
import Sync

/// One version of an app's history.
struct SyncHistoryEntry: Sendable {
    /// A document that it changed.
    struct Object: Sendable {
        /// By the class's name at the version of the schemas of whoever wrote it, until it is translated.
        var address: ObjectAddress
        let before: BSONDocument?
        let after: BSONDocument?
    }

    var version: Int64
    /// 1 is the server.
    var originFile: Int64
    /// Of the device that made it.
    var clientVersion: Int64
    /// The only file that it is for.
    var targetFile: Int64?
    /// Milliseconds since 2015.
    var timestamp: Int64
    var changeset: Changeset
    /// The version of the schemas in whose words the changeset is.
    var schemaVersion: Int64
    var objects: [Object]
    /// The writes that it undoes, for its target.
    var rejections: [SyncErrorReport.RejectedUpdate] = []

    var changesetBytes: [UInt8] { ChangesetWriter.write(changeset) }

    /// `null`, or the writes that it undoes.
    var rejectionText: [UInt8] {
        guard !rejections.isEmpty else { return Array("null".utf8) }
        var text: [UInt8] = []
        PlainJSON.write(
            .array(
                rejections.map { rejection in
                    [
                        "table": .string(rejection.object.table.text),
                        "key": .string(SyncKeyText.text(of: rejection.object.key)),
                        "reason": .string(rejection.reason),
                    ]
                }
            ),
            to: &text
        )
        return text
    }

    /// Its instructions by object, in order; those of the schema are left out.
    var instructionsByObject: [ObjectAddress: [Instruction]] {
        var found: [ObjectAddress: [Instruction]] = [:]
        for instruction in changeset.instructions {
            if let object = instruction.object { found[object, default: []].append(instruction) }
        }
        return found
    }
}

/// A primary key as text in the database: its type and its value.
enum SyncKeyText {
    static func text(of key: ObjectKey) -> String {
        switch key {
        case .null: "null"
        case .int(let number): "int:\(number)"
        case .string(let text): "string:\(text.text)"
        case .objectID(let id): "oid:\(id.hex)"
        case .uuid(let uuid): "uuid:\(uuid.text)"
        }
    }

    static func key(_ text: String) -> ObjectKey? {
        if text == "null" { return .null }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let value = text[text.utf8.index(after: colon)...]
        switch text[..<colon] {
        case "int": return Int64(value).map { .int($0) }
        case "string": return .string(ByteText(String(value)))
        case "oid": return ObjectID(hex: value).map { .objectID($0) }
        case "uuid":
            let digits = value.utf8.filter { $0 != UInt8(ascii: "-") }
            return SyncBytes.hex(digits[...]).flatMap { UUIDBytes($0) }.map { .uuid($0) }
        default: return nil
        }
    }
}

/// `bytea` as PostgreSQL prints it.
enum SyncBytes {
    /// The bytes of `\x…`.
    static func bytea(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "x")]) else { return nil }
        return hex(text.dropFirst(2))
    }

    static func hex(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var index = digits.startIndex
        while index < digits.endIndex {
            guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Milliseconds since 2015-01-01T00:00:00Z, as devices count time.
enum SyncTime {
    /// From milliseconds since 1970.
    static func since2015(_ milliseconds: Int64) -> Int64 { max(0, milliseconds - 1_420_070_400_000) }
}
