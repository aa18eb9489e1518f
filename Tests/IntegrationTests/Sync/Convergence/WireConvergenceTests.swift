import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Devices with real states on a real server, and what PostgreSQL holds in the end.
///
/// `TIDEGATE_SYNC_SCRIPTS` runs so many scripts, from the seed `TIDEGATE_SYNC_SEED` on.
@Suite("Sync: convergence over the wire", .serialized)
struct WireConvergenceTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    static let scripts = setting("TIDEGATE_SYNC_SCRIPTS") ?? 60
    static let firstSeed = setting("TIDEGATE_SYNC_SEED") ?? 1

    @Test("all devices hold what PostgreSQL holds")
    func converge() async throws {
        try await converge(try await SyncModelServer.shared(), Self.scripts)
    }

    @Test("all devices of a partition hold what PostgreSQL holds")
    func partitions() async throws {
        try await converge(try await SyncModelServer.partitioned(), min(Self.scripts, 15))
    }

    private func converge(_ server: SyncModelServer, _ scripts: UInt64) async throws {
        for seed in Self.firstSeed..<(Self.firstSeed + scripts) {
            do {
                var script = try WireScript(seed: seed, on: server)
                try await script.run()
                let differences = try await script.differences()
                script.close()
                if !differences.isEmpty {
                    Issue.record("seed \(seed):\n\(differences.joined(separator: "\n"))")
                }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    @Test("no message passes when all have heard of all")
    func quiet() async throws {
        let server = try await SyncModelServer.shared()
        var script = try WireScript(seed: 4711, on: server)
        try await script.run()
        // Acknowledgements of the last messages go out; nobody has to answer them.
        for device in script.devices { device.upload() }
        func traffic() -> [Int] {
            script.devices.flatMap { [$0.socket?.sentBytes ?? 0, $0.socket?.receivedBytes ?? 0] }
        }
        let before = traffic()
        for _ in 0..<20 {
            try await Task.sleep(for: .milliseconds(100))
            for device in script.devices {
                try device.drain()
                device.upload()
            }
        }
        #expect(traffic() == before)
        #expect(try await script.differences() == [])
        script.close()
    }
}
