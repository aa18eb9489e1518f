import HTTPGateway
import Synchronization
import TestSupport
import Testing

@Suite("Readiness")
struct ReadinessTests {
    @Test("asks once, however many ask")
    func cache() async {
        let probes = Atomic(0)
        let readiness = Readiness {
            probes.wrappingAdd(1, ordering: .relaxed)
            return [.init(.database, "gone")]
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { #expect(await !readiness.isReady()) } }
        }
        #expect(probes.load(ordering: .relaxed) < 5)
    }

    @Test("follows the probe, and is over when the shutdown begins")
    func shutdown() async throws {
        let faults = Mutex<[Readiness.Fault]>([.init(.migrations, "2 are due")])
        let readiness = Readiness { faults.withLock { $0 } }
        #expect(await readiness.faults() == [.init(.migrations, "2 are due")])
        faults.withLock { $0 = [] }
        try await eventually { await readiness.isReady() }
        readiness.beginShutdown()
        #expect(await readiness.faults().map(\.part) == [.server])
    }
}
