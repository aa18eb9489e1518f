import CLibpq

/// The right to stop what a session is doing.
///
/// `@unchecked Sendable`: `PQcancel` is made to be called from any thread, beside the connection's own use.
final class CancelRequest: @unchecked Sendable {
    private let handle: OpaquePointer

    /// Takes what is needed out of an open connection.
    init?(_ connection: OpaquePointer) {
        guard let handle = PQgetCancel(connection) else { return nil }
        self.handle = handle
    }

    deinit {
        PQfreeCancel(handle)
    }

    /// Asks the server and waits until it has taken note; a failure to reach it is left to the grace period.
    func send() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            _ = PQcancel(handle, buffer.baseAddress, 256)
        }
    }
}
