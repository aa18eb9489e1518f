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
        var bytes: [UInt8] = []
        var status = HTTPResponse.Status.ok
        switch result {
        case .documents:
            bytes.append(contentsOf: #"{"documents":["#.utf8)
            try result.encodeDocuments(as: form.outputForm, limits: limits, into: &bytes)
            bytes.append(contentsOf: "]}".utf8)
        case .document:
            bytes.append(contentsOf: #"{"document":"#.utf8)
            try result.encodeDocuments(as: form.outputForm, limits: limits, into: &bytes)
            bytes.append(UInt8(ascii: "}"))
        case .inserted(let id):
            status = .init(code: insertStatus.rawValue)
            form.write(["insertedId": id], to: &bytes)
        case .insertedMany(let ids):
            status = .init(code: insertStatus.rawValue)
            form.write(["insertedIds": .array(ids)], to: &bytes)
        case .updated(let update):
            var document: BSONDocument = [
                "matchedCount": .count(update.matched), "modifiedCount": .count(update.modified),
            ]
            if let id = update.upsertedID { document.append("upsertedId", id) }
            form.write(.document(document), to: &bytes)
        case .deleted(let count):
            form.write(["deletedCount": .count(count)], to: &bytes)
        }
        return Response(
            status: status,
            headers: [.contentType: form.contentType],
            body: .paced(bytes, gate)
        )
    }
}

extension BSONValue {
    /// A count as the clients read it: an int32 where it fits.
    static func count(_ value: Int) -> BSONValue {
        Int32(exactly: value).map { .int32($0) } ?? .int64(Int64(value))
    }
}
