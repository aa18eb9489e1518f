import NIOCore
import NIOEmbedded
import NIOPosix
import Scripting
import Synchronization
import Testing

@testable import HTTPGateway
@testable import tidegate

@Suite("What may wait is let in a few at a time")
struct TurnstileTests {
    /// Connections on one event loop whose time stands still until it is moved.
    private struct Crowd {
        let loop = EmbeddedEventLoop()
        /// One that nobody is on.
        let other = MultiThreadedEventLoopGroup.singleton.next()
        let turnstiles = Turnstiles()
        var atOnce: Int { turnstiles.of(loop).callers.atOnce }

        func connection(
            _ presence: CallerPresence = CallerPresence()
        ) throws -> (channel: EmbeddedChannel, guardian: ConnectionGuard) {
            let guardian = ConnectionGuard(
                headTimeout: .seconds(60),
                isPlain: true,
                presence: presence
            )
            let channel = EmbeddedChannel(loop: loop)
            try channel.pipeline.syncOperations.addHandlers(
                guardian,
                TurnstileHandler(turnstiles, behind: guardian)
            )
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
            return (channel, guardian)
        }
    }

    /// In which the next come in on a loop that does not tell of looking at its sockets.
    private static let turn = TimeAmount.milliseconds(2)

    /// How many have passed.
    private final class Passed: Sendable {
        let count = Atomic(0)
    }

    private static func text(_ channel: EmbeddedChannel) throws -> String? {
        try channel.readInbound(as: ByteBuffer.self).map { String(buffer: $0) }
    }

    @Test("new connections come in a few at a time")
    func newcomers() throws {
        let crowd = Crowd()
        let line = crowd.turnstiles.of(crowd.loop)
        let made = Passed()
        for _ in 0..<40 {
            crowd.turnstiles.enter(on: crowd.loop) { made.count.add(1, ordering: .relaxed) }
        }
        #expect(made.count.load(ordering: .relaxed) == line.newcomers.atOnce)
        var turns = 0
        while made.count.load(ordering: .relaxed) < 40, turns < 100 {
            let before = made.count.load(ordering: .relaxed)
            crowd.loop.advanceTime(by: Self.turn)
            #expect(made.count.load(ordering: .relaxed) - before <= line.newcomers.atOnce)
            turns += 1
        }
        #expect(made.count.load(ordering: .relaxed) == 40)
    }

    @Test("what follows a call of a function waits for its turn, what follows something else for nobody")
    func callers() async throws {
        let crowd = Crowd()
        func known() throws -> (EmbeddedChannel, CallerPresence) {
            let presence = CallerPresence()
            let (channel, guardian) = try crowd.connection(presence)
            guardian.headArrived(isMultiplexed: false)
            return (channel, presence)
        }
        let callers = try (0..<40).map { _ in try known() }
        for (_, presence) in callers {
            await CallerPresence.$current.withValue(presence) { await crowd.turnstiles.pass(on: crowd.other) }
        }
        let other = try known().0
        for (channel, _) in callers { try channel.writeInbound(ByteBuffer(string: "again")) }
        let atOnce = crowd.turnstiles.of(crowd.loop).callers.atOnce
        var served = try callers.filter { try Self.text($0.0) == "again" }.count
        #expect(served == atOnce)
        try other.writeInbound(ByteBuffer(string: "find"))
        #expect(try Self.text(other) == "find")
        for _ in 0..<40 where served < 40 {
            crowd.loop.advanceTime(by: Self.turn)
            let more = try callers.filter { try Self.text($0.0) == "again" }.count
            #expect(more <= atOnce)
            served += more
        }
        #expect(served == 40)
    }

    @Test("what comes while somebody waits stays in order, and comes before their end")
    func order() async throws {
        let crowd = Crowd()
        var channels: [EmbeddedChannel] = []
        for _ in 0..<crowd.atOnce + 2 {
            let presence = CallerPresence()
            let (channel, guardian) = try crowd.connection(presence)
            guardian.headArrived(isMultiplexed: false)
            await CallerPresence.$current.withValue(presence) { await crowd.turnstiles.pass(on: crowd.other) }
            channels.append(channel)
        }
        for channel in channels { try channel.writeInbound(ByteBuffer(string: "a")) }
        let (gone, waiting) = (channels[crowd.atOnce], channels[crowd.atOnce + 1])
        try waiting.writeInbound(ByteBuffer(string: "b"))
        gone.close(promise: nil)
        #expect(try Self.text(gone) == "a")
        #expect(try Self.text(waiting) == nil)
        crowd.loop.advanceTime(by: Self.turn)
        #expect(try Self.text(waiting) == "ab")
        // They may pass without waiting again once nobody waits.
        crowd.loop.advanceTime(by: Self.turn)
        try waiting.writeInbound(ByteBuffer(string: "c"))
        #expect(try Self.text(waiting) == "c")
    }

    @Test("calls leave the event loop to others in between, and all get their turn")
    func calls() async throws {
        let turnstiles = Turnstiles()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: turnstiles)
        let loop = group.next()
        let passed = Passed()
        let before = await withTaskExecutorPreference(EventLoopTaskExecutor(loop)) {
            await withTaskGroup(of: Void.self, returning: Int.self) { calls in
                for _ in 0..<100 {
                    calls.addTask {
                        await turnstiles.pass(on: loop)
                        passed.count.add(1, ordering: .relaxed)
                    }
                }
                // Comes to the loop behind all of them.
                let before = try? await loop.submit { passed.count.load(ordering: .relaxed) }.get()
                await calls.waitForAll()
                return before ?? 100
            }
        }
        #expect((1..<100).contains(before))
        #expect(passed.count.load(ordering: .relaxed) == 100)
        // Elsewhere nobody waits.
        for _ in 0..<20 { await turnstiles.pass(on: loop) }
        try await group.shutdownGracefully()
    }
}
