import Glibc
import HTTPGateway
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
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

    /// Notes on which loops connections are made, and makes none of them.
    private final class Notes: ServerChildChannel {
        struct Value: ServerChildChannelValue {
            let channel: any Channel
        }

        let loops = Mutex<[ObjectIdentifier]>([])

        func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
            loops.withLock { $0.append(ObjectIdentifier(channel.eventLoop)) }
            return channel.eventLoop.makeFailedFuture(ChannelError.eof)
        }

        func handle(value: Value, logger: Logger) async {}
    }

    @Test(
        "serve connections that begin by calling a function apart from all others",
        arguments: [true, false]
    )
    func apart(callsFunction: Bool) async throws {
        let turnstiles = Turnstiles()
        let loops = DoorLoops(turnstiles)
        let notes = Notes()
        let connections = DoorConnections(
            notes,
            on: loops,
            turnstiles: turnstiles,
            count: ConnectionCount(most: 0),
            logger: Logger(label: "test")
        )
        let arrivals = (0..<8).map { _ in
            var ends: [Int32] = [0, 0]
            _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
            Glibc.close(ends[1])
            return Reception.Arrival(socket: ends[0], callsFunction: callsFunction)
        }
        connections.receive(arrivals)
        await connections.end()
        let expected = (callsFunction ? loops.calls : loops.requests).makeIterator().map(
            ObjectIdentifier.init
        )
        let seen = notes.loops.withLock { $0 }
        #expect(seen.count == 8)
        #expect(Set(seen) == Set(expected))
        try await loops.requests.shutdownGracefully()
        try await loops.calls.shutdownGracefully()
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
