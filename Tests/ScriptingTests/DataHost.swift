import BSON
import Scripting
import Synchronization

/// Answers data calls from a list of documents, so far as the tests need: equality filters, `$set`, sort by one
/// field, sessions whose writes count when they are committed.
final class DataHost: ScriptHost {
    private let state: Mutex<State>
    let recorder = RecordingHost()

    private struct State {
        var documents: [BSONDocument]
        /// By session: the documents as the transaction sees them.
        var open: [Int64: [BSONDocument]] = [:]
        var sessions: Int64 = 0
        var ended: [Int64] = []
    }

    init(_ documents: [BSONDocument] = []) {
        state = Mutex(State(documents: documents))
    }

    var documents: [BSONDocument] { state.withLock { $0.documents } }
    var endedSessions: [Int64] { state.withLock { $0.ended } }
    var log: [String] { recorder.log }

    func end() async {
        await recorder.end()
    }

    func answer(_ call: HostCall) async -> Result<BSONValue, HostError> {
        _ = await recorder.answer(call)
        return state.withLock { state in
            let session = call.arguments["session"].flatMap { value -> Int64? in
                switch value {
                case .int32(let number): Int64(number)
                case .int64(let number): number
                default: nil
                }
            }
            switch call.name {
            case "session.start":
                state.sessions += 1
                return .success(.int64(state.sessions))
            case "session.begin": state.open[session ?? 0] = state.documents
            case "session.commit":
                if let documents = state.open.removeValue(forKey: session ?? 0) {
                    state.documents = documents
                }
            case "session.abort": state.open[session ?? 0] = nil
            case "session.end": state.ended.append(session ?? 0)
            case "data.databases": return .success(["d"])
            case "data.collections": return .success(["c"])
            case "data":
                var documents = session.flatMap { state.open[$0] } ?? state.documents
                let result = Self.data(call.arguments, &documents)
                if let session, state.open[session] != nil {
                    state.open[session] = documents
                } else {
                    state.documents = documents
                }
                return result
            default: return .failure(HostError("unknown host call \(call.name)"))
            }
            return .success(.null)
        }
    }

    private static func data(
        _ call: BSONDocument,
        _ documents: inout [BSONDocument]
    ) -> Result<BSONValue, HostError> {
        let arguments = call["arguments"]?.document ?? [:]
        let query = (arguments["query"] ?? arguments["filter"])?.document ?? [:]
        let found = documents.indices.filter { index in
            query.fields.allSatisfy { documents[index][$0.key] == $0.value }
        }
        switch call["method"]?.string {
        case "find":
            var out = found.map { documents[$0] }
            if arguments["sort"] != nil { out.reverse() }
            if case .int32(let skip)? = arguments["skip"] { out.removeFirst(min(Int(skip), out.count)) }
            if case .int32(let limit)? = arguments["limit"], limit > 0 { out = Array(out.prefix(Int(limit))) }
            return .success(.array(out.map { .document($0) }))
        case "findOne": return .success(found.first.map { .document(documents[$0]) } ?? .null)
        case "count": return .success(.int64(Int64(found.count)))
        case "insertOne":
            let document = arguments["document"]?.document ?? [:]
            if let id = document["_id"], documents.contains(where: { $0["_id"] == id }) {
                return .failure(HostError("duplicate key", name: "MongoError", code: 11000))
            }
            documents.append(document)
            return .success(["insertedId": document["_id"] ?? .null])
        case "insertMany":
            for case .document(let document) in arguments["documents"]?.array ?? [] {
                documents.append(document)
            }
            return .success(["insertedIds": []])
        case "updateOne", "updateMany":
            for index in found {
                for field in arguments["update"]?.document?["$set"]?.document ?? [:] {
                    documents[index][field.key] = field.value
                }
            }
            return .success([
                "matchedCount": .int32(Int32(found.count)), "modifiedCount": .int32(Int32(found.count)),
            ])
        case "deleteOne", "deleteMany":
            for index in found.reversed() { documents.remove(at: index) }
            return .success(["deletedCount": .int32(Int32(found.count))])
        case "aggregate": return .success(.array(documents.map { .document($0) }))
        default: return .success(.null)
        }
    }
}
