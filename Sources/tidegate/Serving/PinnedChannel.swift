import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import Threading

/// A connection whose tasks run on the event loop that reads its socket.
///
/// By default a request's task crosses from the event loop to Swift's pool of threads and back at every wait,
/// and each crossing wakes a thread, which costs more than most requests do. Work that computes for long leaves
/// the loop by itself (`Services/LongComputation`).
struct PinnedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    private let connections = TaskCrowd()

    init(base: Base) {
        self.base = base
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            // Plain HTTP has no such handler, and closes in order by itself.
            if let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self) {
                try channel.pipeline.syncOperations.addHandler(FlushingClose(), position: .after(tls))
            }
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await connections.run {
            await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
                await base.handle(value: value, logger: logger)
            }
        }
    }
}

/// Runs the steps of tasks on one event loop.
final class EventLoopTaskExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
