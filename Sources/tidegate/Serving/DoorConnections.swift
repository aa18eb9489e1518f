import HTTPGateway
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The connections of a door, from their first bytes to their end.
///
/// Each has a channel on an event loop and a task that runs there. By default a request's task would cross from the event
/// loop to Swift's pool of threads and back at every wait, and each crossing wakes a thread, which costs more than most
/// requests do. Work that computes for long leaves the loop by itself (`Services/LongComputation`).
final class DoorConnections<Child: ServerChildChannel>: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Those that are to be made among them.
        var underWay = 0
        var isEnding = false
        var whenOver: CheckedContinuation<Void, Never>?
    }

    private let child: Child
    private let loops: [(loop: any EventLoop, executor: EventLoopTaskExecutor)]
    private let turnstiles: Turnstiles
    private let count: ConnectionCount
    private let logger: Logger
    private let state = Mutex(State())
    private let turn = Atomic(0)

    /// - Parameters:
    ///   - child: Sets channels up and serves them.
    ///   - loops: Take turns with them.
    ///   - turnstiles: Say when one is made.
    ///   - count: Of all doors together; each connection is in it already.
    ///   - logger: Of the framework.
    init(
        _ child: Child,
        on loops: any EventLoopGroup,
        turnstiles: Turnstiles,
        count: ConnectionCount,
        logger: Logger
    ) {
        self.child = child
        self.loops = loops.makeIterator().map { ($0, EventLoopTaskExecutor($0)) }
        self.turnstiles = turnstiles
        self.count = count
        self.logger = logger
    }

    /// Serves connections that have said something.
    func receive(_ arrivals: [Reception.Arrival]) {
        state.withLock { $0.underWay += arrivals.count }
        var shares = [[Reception.Arrival]](repeating: [], count: loops.count)
        for arrival in arrivals {
            shares[turn.add(1, ordering: .relaxed).oldValue % loops.count].append(arrival)
        }
        for (place, share) in shares.enumerated() where !share.isEmpty {
            loops[place].loop.execute {
                for arrival in share {
                    self.turnstiles.enter(mayWait: arrival.mayWait, on: self.loops[place].loop) {
                        self.make(arrival.socket, place)
                    }
                }
            }
        }
    }

    /// Lets requests that are under way end, and waits for the connections' end; closes them when cancelled.
    func end() async {
        let channels = state.withLock { state in
            state.isEnding = true
            return Array(state.channels.values)
        }
        for channel in channels {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.underWay > 0 { state.whenOver = continuation }
                    return state.underWay == 0
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
        }
    }

    private func make(_ socket: Int32, _ place: Int) {
        ClientBootstrap(group: loops[place].loop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.closeFuture.whenComplete { _ in
                    self.count.remove()
                    self.state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
                }
                self.state.withLock { $0.channels[ObjectIdentifier(channel)] = channel }
                return self.child.setup(channel: channel, logger: self.logger).map { self.serve($0, place) }
                    .flatMapErrorThrowing { error in
                        self.logger.debug("a connection was not made: \(error)")
                        self.ended()
                        throw error
                    }
            }
            .withConnectedSocket(socket)
            .whenComplete { _ in }
    }

    private func serve(_ value: Child.Value, _ place: Int) {
        // Ends with its connection, and `end` waits for it: no child of a group, which would look for it among all of its
        // children when it ends.
        Task(executorPreference: loops[place].executor) {
            await self.child.handle(value: value, logger: self.logger)
            self.ended()
        }
    }

    private func ended() {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.underWay -= 1
            return state.underWay == 0 ? state.whenOver.take() : nil
        }
        waiting?.resume()
    }
}
