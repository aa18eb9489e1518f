/// Work that may compute for long, kept away from the threads that serve sockets.
///
/// A request's task runs on the event loop of its connection (`DoorConnections`); whoever evaluates documents
/// in memory, or parses a large body, takes this way to Swift's pool of threads, so that the other connections
/// of that loop go on being served.
public enum LongComputation {
    /// Runs a body on the pool and returns to where the caller runs.
    public static func run<Value: Sendable, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withTaskExecutorPreference(globalConcurrentExecutor) {
            do throws(Failure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
