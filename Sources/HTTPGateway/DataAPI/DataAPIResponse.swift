import BSON
import Errors
import HTTPTypes
import Hummingbird
import MQL
import NIOCore
import Services

/// The body of a successful action, byte for byte as data-api.md §2.1 shows.
struct DataAPIResponse {
    let result: DataResult
    let form: ResponseForm
    let insertStatus: GatewaySettings.InsertStatus
    let limits: DataLimits
    let gate: RequestGate

    func response() throws(ServiceError) -> Response {
        Response(try answer(), gate)
    }

    func answer() throws(ServiceError) -> RememberedAnswer {
        var bytes: [UInt8] = []
        var status = 200
        switch result {
        case .documents:
            bytes.append(contentsOf: #"{"documents":["#.utf8)
            try result.encodeDocuments(as: form.outputForm, limits: limits, into: &bytes)
            bytes.append(contentsOf: "]}".utf8)
        case .document(let document):
            bytes.append(contentsOf: #"{"document":"#.utf8)
            try result.encodeDocuments(as: form.outputForm, limits: limits, into: &bytes)
            if let id = document.upsertedID {
                bytes.append(contentsOf: #","upsertedId":"#.utf8)
                form.write(id, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        case .inserted(let id):
            status = insertStatus.rawValue
            form.write(["insertedId": id], to: &bytes)
        case .insertedMany(let ids):
            status = insertStatus.rawValue
            form.write(["insertedIds": .array(ids)], to: &bytes)
        case .updated(let update):
            var document: BSONDocument = [
                "matchedCount": .count(update.matched), "modifiedCount": .count(update.modified),
            ]
            if let id = update.upsertedID { document.append("upsertedId", id) }
            form.write(.document(document), to: &bytes)
        case .deleted(let count):
            form.write(["deletedCount": .count(count)], to: &bytes)
        case .counted(let count):
            form.write(["count": .count(count)], to: &bytes)
        case .values(let values):
            form.write(["values": .array(values)], to: &bytes)
            try limits.check(bytes: bytes.count)
        case .bulkWritten(let result):
            form.write(.document(Self.document(of: result)), to: &bytes)
            try limits.check(bytes: bytes.count)
        }
        return RememberedAnswer(status: status, contentType: form.contentType, body: bytes)
    }

    private static func document(of result: BulkWriteResult) -> BSONDocument {
        func byIndex(_ ids: [(index: Int, id: BSONValue)]) -> BSONValue {
            .document(BSONDocument(ids.map { BSONDocument.Field(key: String($0.index), value: $0.id) }))
        }
        var document: BSONDocument = [
            "insertedCount": .count(result.insertedIDs.count), "matchedCount": .count(result.matched),
            "modifiedCount": .count(result.modified), "deletedCount": .count(result.deleted),
            "upsertedCount": .count(result.upsertedIDs.count), "insertedIds": byIndex(result.insertedIDs),
            "upsertedIds": byIndex(result.upsertedIDs),
        ]
        if !result.errors.isEmpty { document.append("writeErrors", .array(result.errors.map(\.answer))) }
        return document
    }
}

extension WriteError {
    /// As drivers name the members.
    var answer: BSONValue {
        var document: BSONDocument = ["index": .count(index)]
        if let code = error.serverCode {
            document.append("code", .int32(Int32(clamping: code.number)))
            document.append("codeName", .string(code.name))
        }
        document.append("errmsg", .string(error.message))
        return .document(document)
    }
}

extension BSONValue {
    /// A count as the clients read it: an int32 where it fits.
    static func count(_ value: Int) -> BSONValue {
        Int32(exactly: value).map { .int32($0) } ?? .int64(Int64(value))
    }
}
