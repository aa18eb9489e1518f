/// Parses a source in a worker; nothing of it runs.
struct WorkerCheck: Sendable {
    let id: Int64
    let source: String
    let file: String

    /// Sends it to a worker; nil when it cannot be sent.
    func begin(on worker: ScriptWorker) -> WorkerAnswers? {
        let answers = worker.begin(id, until: nil)
        guard worker.send(.check(id: id, source: source, file: file)) else {
            worker.withdraw(id)
            return nil
        }
        return answers
    }

    /// The fault, or nil when it parses.
    func fault(from answers: WorkerAnswers, on worker: ScriptWorker) async -> SyntaxFault? {
        await withTaskCancellationHandler {
            while let (answer, bytes) = await answers.next() {
                worker.consumed(bytes)
                if case .checked(id, let fault) = answer { return fault }
                // It was freed by something else, which no worker says of a check.
                if answer.freedBy == id { break }
            }
            return unchecked
        } onCancel: {
            worker.kill(during: id)
        }
    }

    /// What is told when nobody could look.
    var unchecked: SyntaxFault {
        SyntaxFault(file: file, line: 0, column: 0, message: "the source could not be checked")
    }
}
