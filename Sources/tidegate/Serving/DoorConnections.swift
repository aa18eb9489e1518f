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

    /// An event loop, and what runs tasks on it.
    private typealias Place = (loop: any EventLoop, executor: EventLoopTaskExecutor)

    private let child: Child
    private let requests: [Place]
    private let calls: [Place]
    private let turnstiles: Turnstiles
    private let count: ConnectionCount
    private let logger: Logger
    private let state = Mutex(State())
    private let turn = Atomic(0)

    /// - Parameters:
    ///   - child: Sets channels up and serves them.
    ///   - loops: Those of each kind take turns.
    ///   - turnstiles: Say when one is made.
    ///   - count: Of all doors together; each connection is in it already.
    ///   - logger: Of the framework.
    init(
        _ child: Child,
        on loops: DoorLoops,
        turnstiles: Turnstiles,
        count: ConnectionCount,
        logger: Logger
    ) {
        self.child = child
        requests = loops.requests.makeIterator().map { ($0, EventLoopTaskExecutor($0)) }
        calls = loops.calls.makeIterator().map { ($0, EventLoopTaskExecutor($0)) }
        self.turnstiles = turnstiles
        self.count = count
        self.logger = logger
    }

    /// Serves connections that have said something.
    func receive(_ arrivals: [Reception.Arrival]) {
        state.withLock { $0.underWay += arrivals.count }
        spread(arrivals.filter { !$0.callsFunction }, over: requests)
        spread(arrivals.filter(\.callsFunction), over: calls)
    }

    private func spread(_ arrivals: [Reception.Arrival], over places: [Place]) {
        var shares = [[Int32]](repeating: [], count: places.count)
        for arrival in arrivals {
            shares[turn.add(1, ordering: .relaxed).oldValue % places.count].append(arrival.socket)
        }
        for (place, share) in zip(places, shares) where !share.isEmpty {
            place.loop.execute {
                for socket in share {
                    self.turnstiles.enter(on: place.loop) { self.make(socket, place) }
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

    private func make(_ socket: Int32, _ place: Place) {
        ClientBootstrap(group: place.loop)
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

    private func serve(_ value: Child.Value, _ place: Place) {
        // Ends with its connection, and `end` waits for it: no child of a group, which would look for it among all of its
        // children when it ends.
        Task(executorPreference: place.executor) {
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
