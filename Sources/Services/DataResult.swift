public import BSON
public import Errors
public import MQL
import SQL

/// What ``DataService`` answers, ready to be written into a response or taken apart.
public enum DataResult: Sendable {
    /// Of `find` and `aggregate`.
    case documents(ResultDocuments)
    /// Of `findOne`: one document or none.
    case document(ResultDocuments)
    case inserted(BSONValue)
    case insertedMany([BSONValue])
    case updated(UpdateResult)
    case deleted(Int)
    /// Of `countDocuments` and `estimatedDocumentCount`.
    case counted(Int)
    /// Of `distinct`.
    case values([BSONValue])
    case bulkWritten(BulkWriteResult)

    /// Appends the documents' text: separated by commas for many, `null` where `findOne` found none; nothing for
    /// results without documents.
    public func encodeDocuments(
        as form: StoredForm.OutputForm,
        limits: DataLimits = DataLimits(),
        into out: inout [UInt8]
    ) throws(ServiceError) {
        switch self {
        case .documents(let documents): try documents.encode(as: form, limits: limits, into: &out)
        case .document(let document):
            if try !document.encode(as: form, limits: limits, into: &out) {
                out.append(contentsOf: "null".utf8)
            }
        case .inserted, .insertedMany, .updated, .deleted, .counted, .values, .bulkWritten: break
        }
    }

    /// Whether writing it takes long enough to be done away from an event loop.
    public var isLong: Bool {
        switch self {
        case .documents(let documents), .document(let documents): documents.isLong
        case .insertedMany(let ids), .values(let ids): ids.count > 1000
        case .bulkWritten(let result):
            result.insertedIDs.count + result.upsertedIDs.count + result.errors.count > 1000
        case .inserted, .updated, .deleted, .counted: false
        }
    }

    /// The answer as values, for callers that are not a response.
    public func operationResult() throws(ServiceError) -> OperationResult {
        switch self {
        case .documents(let documents): .documents(try documents.values())
        case .document(let document): .document(try document.values().first)
        case .inserted(let id): .inserted(id)
        case .insertedMany(let ids): .insertedMany(ids)
        case .updated(let result): .updated(result)
        case .deleted(let count): .deleted(count)
        case .counted(let count): .counted(count)
        case .values(let values): .values(values)
        case .bulkWritten(let result): .bulkWritten(result)
        }
    }
}

/// The documents of a result: as rows that go straight into a response, or as values.
public struct ResultDocuments: Sendable {
    private enum Content: Sendable {
        /// `doc`, `shape` of each row.
        case rows(ResultSet, shapes: [Int32: DocumentShape])
        case values([BSONDocument])
    }

    private let content: Content
    /// The `_id` of a document that a `findOneAnd…` inserted because it found none.
    public internal(set) var upsertedID: BSONValue?

    /// No documents.
    static let none = ResultDocuments([])

    init(_ documents: [BSONDocument]) {
        content = .values(documents)
    }

    /// Rows that need no rewriting.
    init(_ rows: ResultSet, shapes: [Int32: DocumentShape]) {
        content = .rows(rows, shapes: shapes)
    }

    /// How many there are.
    public var count: Int {
        switch content {
        case .rows(let rows, _): rows.rowCount
        case .values(let documents): documents.count
        }
    }

    /// Whether there is more than some hundred kilobytes to write.
    var isLong: Bool {
        switch content {
        case .rows(let rows, _): rows.bytes.count > 262_144
        case .values(let documents): documents.count > 200
        }
    }

    /// Appends the documents' text, with commas between them and no brackets.
    ///
    /// - Returns: Whether there was any.
    /// - Throws: `ReadSizeLimitExceeded` as soon as there is too much.
    @discardableResult
    public func encode(
        as form: StoredForm.OutputForm,
        limits: DataLimits = DataLimits(),
        into out: inout [UInt8]
    ) throws(ServiceError) -> Bool {
        switch content {
        case .rows(let rows, let shapes):
            out.reserveCapacity(out.count + rows.bytes.count + rows.bytes.count / 4)
            for row in 0..<rows.rowCount {
                if row > 0 { out.append(UInt8(ascii: ",")) }
                let (text, shape) = StoredRow.parts(rows, row)
                try StoredForm.transcode(text, shape: shapes[shape], to: form, into: &out)
                try limits.check(bytes: out.count)
            }
            return rows.rowCount > 0
        case .values(let documents):
            for (index, document) in documents.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                switch form {
                case .plain: PlainJSON.write(.document(document), to: &out)
                case .canonical: ExtendedJSON.writeCanonical(.document(document), to: &out)
                }
                try limits.check(bytes: out.count)
            }
            return !documents.isEmpty
        }
    }

    /// The documents themselves.
    public func values() throws(ServiceError) -> [BSONDocument] {
        switch content {
        case .rows(let rows, let shapes):
            var documents: [BSONDocument] = []
            documents.reserveCapacity(rows.rowCount)
            for row in 0..<rows.rowCount {
                let (text, shape) = StoredRow.parts(rows, row)
                documents.append(try StoredForm.read(text, shape: shapes[shape]))
            }
            return documents
        case .values(let documents): return documents
        }
    }
}

/// How documents come back: the text of `doc` and the number of `shape`, in the last two columns.
enum StoredRow {
    static func parts(_ rows: ResultSet, _ row: Int) -> (text: ArraySlice<UInt8>, shape: Int32) {
        let last = rows.columns.count - 1
        var shape: Int32 = 0
        for digit in rows.slice(row, last) ?? [] { shape = shape &* 10 &+ Int32(digit &- UInt8(ascii: "0")) }
        return (rows.slice(row, last - 1) ?? [], shape)
    }

    /// How well a document answers a `$text`, where the statement asks for that.
    static func score(_ rows: ResultSet, _ row: Int) -> Double? {
        guard rows.columns.first == "score" else { return nil }
        return rows.text(row, 0).flatMap { Double($0) }
    }

    /// The shapes that rows refer to, but 0.
    static func shapes(_ rows: ResultSet) -> Set<Int32> {
        var ids: Set<Int32> = []
        var last: Int32 = 0
        for row in 0..<rows.rowCount {
            let shape = parts(rows, row).shape
            if shape != last {
                ids.insert(shape)
                last = shape
            }
        }
        ids.remove(0)
        return ids
    }
}
