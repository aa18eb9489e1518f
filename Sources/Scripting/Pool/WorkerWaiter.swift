/// Begins something on a worker; nil when that cannot be.
typealias WorkerBeginning = @Sendable (ScriptWorker) -> WorkerAnswers?

/// Somebody who wants a worker.
struct WorkerWaiter: Sendable {
    let begin: WorkerBeginning
    private let told: CheckedContinuation<Leased, Never>

    /// What they get.
    enum Leased: Sendable {
        case worker(ScriptWorker, WorkerAnswers?)
        case none
        /// None in time.
        case overdue
    }

    init(_ begin: @escaping WorkerBeginning, _ told: CheckedContinuation<Leased, Never>) {
        self.begin = begin
        self.told = told
    }

    /// The worker begins before the one who waits has come to it.
    func take(_ worker: ScriptWorker) {
        told.resume(returning: .worker(worker, begin(worker)))
    }

    func goWithout(_ leased: Leased = .none) { told.resume(returning: leased) }
}
