import Foundation
import TestSupport
import Testing

@Suite("Chaos")
struct ChaosTests {
    private func play(_ arguments: [String]) async throws {
        let program = RunningServer.binary.deletingLastPathComponent().appendingPathComponent(
            "tidegate-chaos"
        )
        let result = try await Shell.finish(
            program,
            arguments + ["--seed", "20261121", "--binary", RunningServer.binary.path]
        )
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("five rounds of crashes, cuts and stalls break no promise")
    func fiveRounds() async throws {
        try await play(["--rounds", "5", "--seconds", "1"])
    }
}
