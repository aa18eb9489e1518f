import BSON
import Errors
import HTTPTypes
import Hummingbird
import MQL
import Services

/// The answer to a call of the MongoDB service: the value itself, in canonical Extended JSON.
///
/// Counts of writes are ints and counts of documents longs, as `realm-core` reads them.
///
/// Source: client-api.md §§9.2, 9.4.
struct ServiceCallResponse {
    let result: DataResult
    let limits: DataLimits
    let gate: RequestGate

    func response() throws(ServiceError) -> Response {
        Response(try answer(), gate)
    }

    func answer() throws(ServiceError) -> RememberedAnswer {
        var bytes: [UInt8] = []
        switch result {
        case .documents:
            bytes.append(UInt8(ascii: "["))
            try result.encodeDocuments(as: .canonical, limits: limits, into: &bytes)
            bytes.append(UInt8(ascii: "]"))
        case .document: try result.encodeDocuments(as: .canonical, limits: limits, into: &bytes)
        case .inserted(let id): ExtendedJSON.writeCanonical(["insertedId": id], to: &bytes)
        case .insertedMany(let ids):
            ExtendedJSON.writeCanonical(["insertedIds": .array(ids)], to: &bytes)
        case .updated(let update):
            var document: BSONDocument = [
                "matchedCount": .count(update.matched), "modifiedCount": .count(update.modified),
            ]
            if let id = update.upsertedID { document.append("upsertedId", id) }
            ExtendedJSON.writeCanonical(.document(document), to: &bytes)
        case .deleted(let count):
            ExtendedJSON.writeCanonical(["deletedCount": .count(count)], to: &bytes)
        case .counted(let count): ExtendedJSON.writeCanonical(.int64(Int64(count)), to: &bytes)
        case .values(let values): ExtendedJSON.writeCanonical(.array(values), to: &bytes)
        case .bulkWritten:
            throw ServiceError(.internalServerError, "the service has no bulkWrite")
        }
        try limits.check(bytes: bytes.count)
        return RememberedAnswer(status: 200, contentType: "application/json", body: bytes)
    }
}

extension Response {
    /// An answer as it stands.
    init(_ answer: RememberedAnswer, _ gate: RequestGate) {
        self.init(
            status: .init(code: answer.status),
            headers: [.contentType: answer.contentType],
            body: .paced(answer.body, gate)
        )
    }
}
