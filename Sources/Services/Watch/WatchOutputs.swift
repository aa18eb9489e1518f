import Errors

/// What a watch sends, one after the other.
///
/// Nothing is read ahead of who asks, but for a page: so the client's pace is the pace of reading.
public struct WatchOutputs {
    private let watch: Watch
    private var cursor: Cursor
    private var wakes: AsyncStream<Void>.AsyncIterator
    private var page: [Watch.Output] = []
    private var index = 0
    /// Whether all that there was has been read.
    private var isCaughtUp = true
    private var owesHeartbeat = false
    private var isOver = false

    init(_ watch: Watch, _ start: WatchStart) {
        self.watch = watch
        cursor = Cursor(start)
        wakes = watch.inbox.wakes.makeAsyncIterator()
    }

    /// Waits for the next thing to send; nil when the client has left or the watch is over.
    public mutating func next() async -> Watch.Output? {
        while true {
            if index < page.count {
                index += 1
                owesHeartbeat = false
                return page[index - 1]
            }
            if isOver { return nil }
            index = 0
            do throws(ServiceError) {
                page = try await read()
            } catch {
                page = [.failure(error)]
                isOver = true
                watch.failed()
            }
        }
    }

    private mutating func read() async throws(ServiceError) -> [Watch.Output] {
        // A task that is cancelled is not woken any more.
        if isCaughtUp, await wakes.next(isolation: #isolation) == nil {
            isOver = true
            return []
        }
        let signals = watch.inbox.take()
        if signals.hasLeft {
            isOver = true
            return []
        }
        if let error = signals.ending { throw error }
        if signals.isHeartbeatDue { owesHeartbeat = true }
        let more = try await watch.more(&cursor)
        isCaughtUp = more == nil
        if let more { return more }
        if let end = signals.end, cursor.place >= end.place {
            isOver = true
            return try await watch.ends(cursor, end)
        }
        return owesHeartbeat ? [.heartbeat] : []
    }
}
