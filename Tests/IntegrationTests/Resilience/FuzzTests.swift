import Foundation
import TestSupport
import Testing

@Suite("Fuzzing")
struct FuzzTests {
    private func fuzz(_ arguments: String...) async throws {
        let program = RunningServer.binary.deletingLastPathComponent().appendingPathComponent("tidegate-fuzz")
        let result = try await Shell.finish(program, ["--seed", "20261121"] + arguments)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("finds nothing in parsers, rules, queries and tokens")
    func parsers() async throws {
        try await fuzz("--runs", "1500")
    }

    @Test("finds no query that parses and fails in PostgreSQL, or finds there what it should not")
    func queries() async throws {
        let database = try await TestCluster.shared.makeDatabase(migrated: true)
        try await fuzz("--runs", "250", "--database", database)
    }

    @Test("finds no request that a gateway answers with an error of its own")
    func requests() async throws {
        let server = try await RunningServer.start(
            app: TestApp.files,
            name: "fuzz",
            arguments: ["--body-timeout", "1"]
        )
        defer { server.stop() }
        try await fuzz("--runs", "120", "--port", String(server.http.split(separator: ":").last ?? ""))
    }
}
