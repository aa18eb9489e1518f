public import BSON
import Errors
import MQL
public import Rules

/// Runs the functions that rules ask.
public protocol RuleFunctions: Sendable {
    /// What a function answers to the caller of an operation; nil when there is no such function, or it fails.
    ///
    /// Within the operation's `transaction`, where there is one, the function reads and writes, too.
    func answer(
        _ question: FunctionQuestion,
        _ context: CallContext,
        within transaction: EnclosingTransaction?
    ) async -> BSONValue?
}

/// Answers what decisions by rules leave open.
struct RuleQuestions: Sendable {
    let functions: any RuleFunctions
    let context: CallContext

    /// Functions of one page of documents run at once, outside of a transaction.
    private static let atOnce = 8
    /// A decision that still has questions after so many answers to it is no decision.
    private static let rounds = 1000

    /// Decides, answers what came up, and decides anew until nothing is open.
    ///
    /// `decide` is without effect, since it is called several times.
    ///
    /// - Throws: `executionTimeLimitExceeded` at the deadline; what the last decision throws.
    func deciding<Value>(
        _ answers: FunctionAnswers,
        within transaction: EnclosingTransaction?,
        _ decide: () throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        for _ in 0..<Self.rounds {
            let decision: Result<Value, ServiceError>
            do throws(ServiceError) {
                decision = .success(try decide())
            } catch {
                decision = .failure(error)
            }
            let open = answers.takeOpen()
            if open.isEmpty { return try decision.get() }
            try await answer(open, answers, within: transaction)
        }
        throw ServiceError(.internalServerError, "rules ask functions without end")
    }

    private func answer(
        _ open: [FunctionQuestion],
        _ answers: FunctionAnswers,
        within transaction: EnclosingTransaction?
    ) async throws(ServiceError) {
        // A transaction is one connection, which does one thing at a time.
        let atOnce = transaction == nil ? Self.atOnce : 1
        await withTaskGroup(of: Void.self) { group in
            for (index, question) in open.enumerated() {
                if ContinuousClock.now >= context.deadline || Task.isCancelled { break }
                if index >= atOnce { await group.next() }
                group.addTask { [functions, context] in
                    answers.answer(
                        question,
                        await functions.answer(question, context, within: transaction)
                    )
                }
            }
        }
        guard ContinuousClock.now < context.deadline, !Task.isCancelled else {
            throw ServiceError(.executionTimeLimitExceeded, "execution time limit exceeded")
        }
    }
}

extension DataCall {
    /// Why a change is refused; nil when it is permitted.
    func denial(
        of kind: WriteKind,
        before: BSONDocument?,
        after: BSONDocument?
    ) async throws(ServiceError) -> Denial? {
        try await deciding { () throws(ServiceError) in plan.denial(of: kind, before: before, after: after) }
    }

    /// Decides by the rules, with the answers of the functions that they ask.
    func deciding<Value>(
        _ decide: () throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        guard let answers = plan.answers, let questions else { return try decide() }
        return try await questions.deciding(answers, within: enclosing, decide)
    }
}
