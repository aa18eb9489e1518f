import ArgumentParser
import Foundation
import SyncModel
import Synchronization

/// The scripts of the convergence test, as many as one likes: each by its own seed, one after the other.
struct SyncScripts {
    let first: UInt64
    let count: UInt64

    /// How many went wrong.
    private final class Failures: Sendable {
        let count = Atomic(0)
    }

    func run() throws {
        let done = DispatchSemaphore(value: 0)
        let failures = Failures()
        Task.detached { [first, count] in
            await Self.run(first..<(first + count), failures)
            done.signal()
        }
        done.wait()
        let failed = failures.count.load(ordering: .relaxed)
        say("\(count) scripts from seed \(first), \(failed) failed")
        if failed > 0 { throw ExitCode(1) }
    }

    private static func run(_ seeds: Range<UInt64>, _ failures: Failures) async {
        do {
            var server = try await SyncModelServer.shared()
            for seed in seeds {
                if seed % 50 == 0 {
                    say("\(Date()) seed \(seed)")
                    server = try await server.withNewUsers()
                }
                guard let problem = await problem(seed, server) else { continue }
                failures.count.add(1, ordering: .relaxed)
                say("FAILED seed \(seed): \(problem)")
            }
        } catch {
            failures.count.add(1, ordering: .relaxed)
            say("\(error)")
        }
    }

    /// What went wrong in one script.
    private static func problem(_ seed: UInt64, _ server: SyncModelServer) async -> String? {
        do {
            var script = try WireScript(seed: seed, on: server)
            defer { script.close() }
            try await script.run()
            let differences = try await script.differences()
            return differences.isEmpty ? nil : differences.joined(separator: "\n")
        } catch {
            return "\(error)"
        }
    }
}
