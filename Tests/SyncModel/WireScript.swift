import BSON
import Foundation
import Postgres
import SQL
import Sync
import TestSupport

/// One run of everything at random over the wire, until all have heard of all.
package struct WireScript {
    package let seed: UInt64
    private let server: SyncModelServer
    private let group: String
    private var changes: RandomChanges
    package private(set) var devices: [RealmClient] = []
    /// How far each clock is off, in milliseconds.
    private var skew: [Int64] = []

    package init(seed: UInt64, on server: SyncModelServer) throws {
        self.seed = seed
        self.server = server
        group = "s\(seed)-\(UUID().uuidString.prefix(8))"
        changes = RandomChanges(seed: seed)
        changes.embeddingLimit = SyncModelApp.embeddingLimit
        changes.firstKey = Int64.random(in: 1 << 40..<1 << 60)
        let isShared = changes.random.oneIn(2)
        changes.labels = [
            ("g", .string(ByteText(group))),
            ("who", .string(ByteText(isShared ? "all" : server.users[0].id))),
        ]
        for _ in 0..<(2 + changes.random.below(4)) {
            let user = server.users[isShared ? changes.random.below(2) : 0]
            devices.append(try server.device(of: user, group: group))
            skew.append(Int64(changes.random.below(4001)) - 2000)
        }
    }

    package mutating func run() async throws {
        for _ in 0..<(8 + changes.random.below(25)) { try await step() }
        try await converge()
    }

    /// Everybody tells everything, and hears of everything.
    package func converge() async throws {
        for device in devices {
            if !device.isConnected { try device.connect() }
            device.upload()
            try device.catchUp()
        }
        try await server.settle()
        // What was undone or merged on one device has to reach those before it.
        for _ in 0..<2 {
            for device in devices {
                try device.catchUp()
                device.upload()
                try device.catchUp()
            }
        }
    }

    package func close() {
        for device in devices { device.disconnect() }
    }

    private mutating func step() async throws {
        let place = changes.random.below(devices.count)
        let device = devices[place]
        switch changes.random.below(20) {
        case 0, 1, 2: device.upload(limit: 1 + changes.random.below(3))
        case 3, 4, 5: if device.isConnected { try device.drain(limit: 1 + changes.random.below(4)) }
        case 6: if device.isConnected { try device.catchUp() }
        case 7, 8:
            // Sent, perhaps integrated, and never heard of again: so it is sent once more.
            if changes.random.oneIn(2) { device.upload() }
            device.disconnect()
        case 9, 10: if !device.isConnected { try device.connect() }
        case 11: try await writeOtherwise()
        default:
            let now = Int64(Date().timeIntervalSince1970 * 1000) - 1_420_070_400_000
            let time = now + skew[place] + Int64(changes.random.below(5))
            let file = device.file.ownFile
            try device.file.write(at: time) { state throws in
                try changes.transaction(on: &state, by: file)
            }
            if changes.random.oneIn(2) { device.upload() }
        }
    }

    // MARK: Writes of others than devices

    /// One write by SQL or the Data API to one of the objects, if it is there.
    private mutating func writeOtherwise() async throws {
        let key = changes.firstKey + Int64(changes.random.below(3))
        let number = Int64(changes.random.below(100))
        if changes.random.oneIn(2) {
            try await writeBySQL(key, number)
        } else {
            let updates = [
                #"{"$inc": {"i": \#(number)}}"#, #"{"$set": {"s": "api \#(number)"}}"#,
                #"{"$push": {"li": "api \#(number)"}}"#, #"{"$addToSet": {"st": \#(number % 4)}}"#,
                #"{"$set": {"d.k0": "api \#(number)"}}"#, #"{"$unset": {"d.k1": ""}}"#,
                #"{"$pop": {"li": -1}}"#, #"{"$set": {"m": \#(number)}}"#,
            ]
            let answer = try await server.api.act(
                "updateOne",
                "T",
                #""filter": {"_id": {"$numberLong": "\#(key)"}}, "update": "#
                    + updates[changes.random.below(updates.count)],
                as: server.users[0].bearer
            )
            // A field may be of a kind that cannot be changed so.
            guard answer.status == 200 || answer.status == 400 else {
                throw BrokenRule("\(answer.status) \(answer.text)")
            }
        }
    }

    private mutating func writeBySQL(_ key: Int64, _ number: Int64) async throws {
        let place: SQLFragment = "WHERE (doc->>'_id')::numeric = \(bind: .int(key))"
        let value = SQLFragment("to_jsonb(\(bind: .int(number))::bigint)")
        let statement: SQLFragment =
            switch changes.random.below(5) {
            case 0: #"UPDATE todo."T" SET doc = jsonb_set(doc, '{i}', \#(value)) \#(place)"#
            case 1: #"UPDATE todo."T" SET doc = jsonb_set(doc, '{s}', '"by hand"') \#(place)"#
            case 2: #"UPDATE todo."T" SET doc = jsonb_set(doc, '{li}', '["by", "hand"]') \#(place)"#
            case 3: #"UPDATE todo."T" SET doc = doc - 'e' \#(place)"#
            default: #"DELETE FROM todo."T" \#(place)"#
            }
        _ = try await server.database.run(statement, within: .seconds(60))
    }

    // MARK: The end

    /// Where devices and documents differ; empty when nothing does.
    package func differences() async throws -> [String] {
        let stored = try await server.stored(group)
        return devices.flatMap { device in
            device.file.state.differences(from: stored).map { "file \(device.file.ownFile): \($0)" }
                + (device.file.unsent.isEmpty
                    ? [] : ["file \(device.file.ownFile): not all was acknowledged"])
        }
    }
}
