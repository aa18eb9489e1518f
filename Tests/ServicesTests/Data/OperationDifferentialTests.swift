import Foundation
import TestSupport
import Testing

/// Whole requests through PostgreSQL and through the evaluator: finds, pipelines, updates and searches for texts, with
/// and without a collation.
///
/// `TIDEGATE_DIFFERENTIAL_CASES` and `TIDEGATE_DIFFERENTIAL_SEED` make a long run of it: `make differential`.
@Suite("Requests, against the evaluator", .serialized)
struct OperationDifferentialTests {
    private static let cases = number("TIDEGATE_DIFFERENTIAL_CASES") ?? 5000
    private static let seed = number("TIDEGATE_DIFFERENTIAL_SEED") ?? 1
    /// So many cases share their documents.
    private static let round = 250
    private static let now: Int64 = 1_700_000_000_123

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test("they are answered as the evaluator answers them")
    func agree() async throws {
        var generator = GeneratedRequests(seed: UInt64(Self.seed))
        let compared = try await DifferentialRun(now: Self.now)
        var done = 0
        while done < Self.cases {
            try await compared.refill(generator.collection(40))
            for _ in 0..<min(Self.round, Self.cases - done) {
                switch generator.random.below(20) {
                case 0...7: await compared.find(&generator)
                case 8...13: await compared.aggregate(&generator)
                case 14: await compared.count(&generator)
                case 15...18: try await compared.update(&generator)
                default: await compared.search(&generator)
                }
                done += 1
                if compared.differences > 20 { break }
            }
            if compared.differences > 20 { break }
        }
        // The test would prove nothing if most requests failed, or hardly any were decided by SQL.
        #expect(compared.answered * 2 > done, "\(compared.answered) of \(done)")
        await compared.close()
    }
}
