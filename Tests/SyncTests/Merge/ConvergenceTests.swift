import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Devices and a server that change one set of objects and hear of each other late.
///
/// `TIDEGATE_MERGE_SCRIPTS` runs more scripts than the usual ones, each by its own seed.
@Suite("Convergence")
struct ConvergenceTests {
    static let scripts =
        ProcessInfo.processInfo.environment["TIDEGATE_MERGE_SCRIPTS"].flatMap(UInt64.init) ?? 200

    @Test("everyone has the same in the end", arguments: [2, 3])
    func converge(devices: Int) throws {
        var conflicts = 0
        for seed in 1...Self.scripts / 2 {
            var script = Script(seed: seed &* 31 &+ UInt64(devices), devices: devices)
            do {
                try script.run()
            } catch {
                Issue.record("seed \(script.seed) with \(devices) devices: \(error)")
                continue
            }
            let differing = script.devices.filter { $0.state != script.server.state }.map(\.file)
            #expect(differing.isEmpty, "seed \(script.seed) with \(devices) devices")
            #expect(script.devices.allSatisfy { $0.unsent.isEmpty })
            if script.server.isRewritten { conflicts += 1 }
        }
        // Scripts without a conflict would show nothing.
        #expect(conflicts > Int(Self.scripts) / 4)
    }
}

/// One run of everything at random, until all have heard of all.
private struct Script {
    let seed: UInt64
    var server = ModelServer()
    var devices: [ModelDevice]
    private var changes: RandomChanges
    private var time: Int64 = 1000
    /// How far each clock is off; the first is the server's.
    private var skew: [Int64]

    init(seed: UInt64, devices count: Int) {
        self.seed = seed
        changes = RandomChanges(seed: seed)
        devices = (0..<count).map { ModelDevice(file: UInt64($0) + 2) }
        skew = []
        for _ in 0...count { skew.append(Int64(changes.random.below(21)) - 10) }
    }

    mutating func run() throws {
        for _ in 0..<(10 + changes.random.below(50)) { try step() }
        // Twice: what the last device sends has to reach the first one.
        for _ in 0..<2 {
            for position in devices.indices {
                try upload(position, limit: .max)
                try download(position, limit: .max)
            }
        }
    }

    private mutating func step() throws {
        // Times may be equal, and those of one device may fall.
        time += Int64(changes.random.below(3))
        let position = changes.random.below(devices.count)
        switch changes.random.below(10) {
        case 0:
            try server.change(at: time + skew[0]) { state throws in
                try changes.transaction(on: &state, by: ModelServer.ownFile)
            }
        case 1, 2: try upload(position, limit: 1 + changes.random.below(4))
        case 3, 4: try download(position, limit: 1 + changes.random.below(6))
        default:
            let jitter = Int64(changes.random.below(5))
            try devices[position].change(at: time + skew[position + 1] - jitter) { state throws in
                try changes.transaction(on: &state, by: UInt64(position) + 2)
            }
        }
    }

    /// Sends what the device does not know to have arrived; some of it may have.
    private mutating func upload(_ position: Int, limit: Int) throws {
        let sent = Array(devices[position].unsent.prefix(limit))
        try server.integrate(sent, from: devices[position].file)
    }

    private mutating func download(_ position: Int, limit: Int) throws {
        let device = devices[position]
        try devices[position].receive(
            server.download(for: device.file, after: device.serverVersion, limit: limit)
        )
    }
}
