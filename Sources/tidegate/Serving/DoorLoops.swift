import Glibc
import HTTPGateway
import NIOCore
import NIOPosix

/// The event loops of the clients' doors: some for all that is asked, and as many for those who begin by calling a function.
///
/// A loop sees to everything in the order in which it comes, so that beside thousands of callers each step of a request would
/// wait for those of theirs that came before, several times on its way. On loops apart it waits for processors alone, and
/// where these are short, those who wait for workers anyway get less of them.
struct DoorLoops: Sendable {
    /// For all connections but those of ``calls``.
    let requests: any EventLoopGroup
    /// For connections whose first request calls a function.
    let calls: any EventLoopGroup

    /// On a processor that both want, others get about three times as much of it.
    private static let niceness: Int32 = 5

    /// As many of each as there are processors.
    ///
    /// - Parameter turnstiles: Are told when a loop looks at its sockets.
    init(_ turnstiles: Turnstiles) {
        requests = MultiThreadedEventLoopGroup(
            numberOfThreads: System.coreCount,
            metricsDelegate: turnstiles
        )
        calls = MultiThreadedEventLoopGroup(
            numberOfThreads: System.coreCount,
            metricsDelegate: turnstiles
        )
        for loop in calls.makeIterator() {
            // Linux has this of a thread.
            loop.execute { _ = nice(Self.niceness) }
        }
    }
}
