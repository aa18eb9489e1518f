import Foundation
import TestSupport
import Testing

@Suite("Chaos")
struct ChaosTests {
    @Test("five rounds of crashes, cuts and stalls break no promise")
    func fiveRounds() async throws {
        let program = RunningServer.binary.deletingLastPathComponent().appendingPathComponent(
            "tidegate-chaos"
        )
        let result = try await Shell.finish(
            program,
            ["--rounds", "5", "--seconds", "1", "--seed", "20261121", "--binary", RunningServer.binary.path]
        )
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }
}
