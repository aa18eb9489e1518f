import Foundation
import TestSupport

/// One client: sends operations to one gateway after another and enters what it learns.
final class Worker {
    private let name: String
    private let gateways: [Gateway]
    private let key: String
    private let ledger: Ledger
    private var random: SeededRandom
    private var connections: [PlainHTTP]
    private var serial = 0
    /// Names of documents of its own that are there for certain.
    private var own: [String] = []

    init(name: String, gateways: [Gateway], key: String, ledger: Ledger, seed: UInt64) {
        self.name = name
        self.gateways = gateways
        self.key = key
        self.ledger = ledger
        random = SeededRandom(seed: seed)
        connections = gateways.map { PlainHTTP(port: $0.port) }
    }

    /// How a request ended.
    private enum Outcome {
        case done([String: Any])
        case unknown
        /// It never reached a gateway.
        case notSent
    }

    /// Works until told to stop.
    func run(shared: [String], group: String, until isOver: () -> Bool) {
        while !isOver() {
            serial += 1
            switch random.below(100) {
            case ..<25: insertOne()
            case ..<35: insertMany()
            case ..<55: change(shared[random.below(shared.count)], inMemory: false)
            case ..<65: change(shared[random.below(shared.count)], inMemory: true)
            case ..<70: changeGroup(group)
            case ..<80: deleteOne()
            case ..<85: upsert()
            default: find()
            }
        }
        for connection in connections { connection.close() }
    }

    private func insertOne() {
        let document = "\(name)-\(serial)"
        switch act("insertOne", #""document":{"name":"\#(document)","_id":"\#(document)","n":1}"#) {
        case .done:
            ledger.record(document, .present)
            own.append(document)
        case .unknown: ledger.record(document, .unknown)
        case .notSent: break
        }
    }

    private func insertMany() {
        let names = (0..<5).map { "\(name)-\(serial)-\($0)" }
        let documents = names.map { #"{"_id":"\#($0)","name":"\#($0)","n":1}"# }.joined(separator: ",")
        switch act("insertMany", #""documents":[\#(documents)]"#) {
        case .done: ledger.recordGroup(names, .present)
        case .unknown: ledger.recordGroup(names, .unknown)
        case .notSent: break
        }
    }

    /// One statement, or, with a pipeline, a document that the gateway computes and swaps in.
    private func change(_ document: String, inMemory: Bool) {
        let mark = "\(name)-\(serial)"
        let update =
            inMemory
            ? #"[{"$set":{"n":{"$add":["$n",1]},"marks":{"$concatArrays":["$marks",["\#(mark)"]]}}}]"#
            : #"{"$inc":{"n":1},"$push":{"marks":"\#(mark)"}}"#
        switch act("updateOne", #""filter":{"_id":"\#(document)"},"update":\#(update)"#) {
        case .done(let answer):
            if answer["modifiedCount"] as? Int != 1 {
                ledger.violated("updateOne of \(document) answered \(answer)")
            }
            ledger.mark(document, mark, acknowledged: true)
        case .unknown: ledger.mark(document, mark, acknowledged: false)
        case .notSent: break
        }
    }

    private func changeGroup(_ group: String) {
        let mark = "\(name)-\(serial)"
        let update =
            #"[{"$set":{"n":{"$add":["$n",1]},"marks":{"$concatArrays":["$marks",["\#(mark)"]]}}}]"#
        let members = (0..<Round.groupSize).map { "\(group)-\($0)" }
        switch act("updateMany", #""filter":{"group":"\#(group)"},"update":\#(update)"#) {
        case .done(let answer):
            if answer["modifiedCount"] as? Int != members.count {
                ledger.violated("updateMany of \(group) answered \(answer)")
            }
            for member in members { ledger.mark(member, mark, acknowledged: true) }
        case .unknown: for member in members { ledger.mark(member, mark, acknowledged: false) }
        case .notSent: break
        }
    }

    private func deleteOne() {
        guard let document = takeOwn() else { return }
        switch act("deleteOne", #""filter":{"_id":"\#(document)"}"#) {
        case .done(let answer):
            if answer["deletedCount"] as? Int != 1 {
                ledger.violated("deleteOne of \(document), which was there, answered \(answer)")
            }
            ledger.record(document, .absent)
        case .unknown: ledger.record(document, .unknown)
        case .notSent: own.append(document)
        }
    }

    private func upsert() {
        let document = "\(name)-upserted-\(serial)"
        let update = #"{"$set":{"name":"\#(document)"},"$inc":{"n":1}}"#
        switch act("updateOne", #""filter":{"_id":"\#(document)"},"update":\#(update),"upsert":true"#) {
        case .done(let answer):
            if answer["upsertedId"] as? String != document {
                ledger.violated("upsert of \(document) answered \(answer)")
            }
            ledger.record(document, .present)
        case .unknown: ledger.record(document, .unknown)
        case .notSent: break
        }
    }

    /// What was acknowledged by one gateway is seen through the other.
    private func find() {
        guard !own.isEmpty else { return }
        let document = own[random.below(own.count)]
        guard case .done(let answer) = act("findOne", #""filter":{"_id":"\#(document)"}"#) else { return }
        let found = answer["document"] as? [String: Any]
        if found?["name"] as? String != document {
            ledger.violated("findOne of \(document), which was there, answered \(answer)")
        }
    }

    private func takeOwn() -> String? {
        guard !own.isEmpty else { return nil }
        return own.remove(at: random.below(own.count))
    }

    private func act(_ action: String, _ members: String) -> Outcome {
        let index = random.below(gateways.count)
        do {
            let answer = try connections[index].send(action, members, key: key)
            if answer.status < 300 {
                ledger.count(answered: true)
                return .done(answer.object)
            }
            ledger.count(answered: false)
            if !answer.isExpectedFailure {
                ledger.violated("\(gateways[index].name) \(action): \(answer.status) \(answer.body)")
            }
            return .unknown
        } catch {
            switch error {
            case .refused:
                ledger.countRefused()
                usleep(20_000)
                return .notSent
            case .lost: break
            case .silent:
                ledger.violated("\(gateways[index].name) \(action): no answer for a minute and a half")
            }
            ledger.count(answered: false)
            return .unknown
        }
    }
}

extension PlainHTTP {
    /// One action of the Data API on the collection of the run.
    func send(_ action: String, _ members: String, key: String) throws(Failure) -> Answer {
        try send(
            "POST",
            "/app/\(ChaosApp.clientAppID)/endpoint/data/v1/action/\(action)",
            [("Content-Type", "application/json"), ("apiKey", key)],
            #"{"dataSource":"mongodb-atlas","database":"chaos","collection":"Items",\#(members)}"#
        )
    }
}

extension PlainHTTP.Answer {
    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }

    /// Trouble may only show as "try again later", "it took too long" or a conflict: a lost database is neither
    /// a wrong password nor an error of the gateway's.
    var isExpectedFailure: Bool {
        switch object["error_code"] as? String {
        case "MaintenanceInProgress", "ExecutionTimeLimitExceeded", "TooManyRequests": true
        case "MongoDBError": object["codeName"] as? String == "WriteConflict"
        default: false
        }
    }
}
