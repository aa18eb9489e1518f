import Synchronization

/// How many connections stand, of all doors together.
public final class ConnectionCount: Sendable {
    private let count = Atomic<Int>(0)
    private let most: Int

    /// - Parameter most: Connections at once; 0 is no limit.
    public init(most: Int) {
        self.most = most
    }

    /// Counts one more.
    ///
    /// - Returns: Whether it may stay; counted it is in any case.
    public func add() -> Bool {
        count.add(1, ordering: .relaxed).newValue <= most || most == 0
    }

    /// Counts one less.
    public func remove() {
        count.subtract(1, ordering: .relaxed)
    }
}
