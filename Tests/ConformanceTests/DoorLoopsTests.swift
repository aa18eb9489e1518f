import Glibc
import HTTPGateway
import NIOCore
import Testing

@testable import tidegate

@Suite("The doors' event loops")
struct DoorLoopsTests {
    /// Of the threads of a group, as the kernel has it.
    private static func niceness(_ group: any EventLoopGroup) async throws -> [Int32] {
        var levels: [Int32] = []
        for loop in group.makeIterator() {
            let level = try await loop.submit { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
                .get()
            levels.append(level)
        }
        return levels
    }

    @Test("leave processors that are short to requests rather than to calls")
    func niceness() async throws {
        let loops = DoorLoops(Turnstiles())
        let requests = try await Self.niceness(loops.requests)
        let calls = try await Self.niceness(loops.calls)
        #expect(requests.count == calls.count && !calls.isEmpty)
        for (request, call) in zip(requests, calls) { #expect(call > request) }
        try await loops.requests.shutdownGracefully()
        try await loops.calls.shutdownGracefully()
    }
}
