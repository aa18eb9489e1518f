public import BSON
import Errors
import Observability
public import Rules

/// Runs the functions that rules ask by a ``FunctionService``, as the caller of the operation.
public struct ServedRuleFunctions: RuleFunctions {
    private let service: FunctionService

    /// Made of what runs them.
    public init(_ service: FunctionService) {
        self.service = service
    }

    /// What the function returns; nil when it fails.
    public func answer(
        _ question: FunctionQuestion,
        _ context: CallContext,
        within transaction: EnclosingTransaction?
    ) async -> BSONValue? {
        // What it is asked for a document is no matter for the request's row in the log.
        let trace = RequestTrace(requestID: context.trace.requestID)
        do throws(ServiceError) {
            return try await service.run(
                question.name,
                arguments: question.arguments,
                caller: FunctionCaller(
                    principal: context.principal,
                    door: .inside,
                    request: context.request()
                ),
                app: context.app,
                deadline: context.deadline,
                trace: trace,
                within: transaction
            ).value
        } catch {
            let reason = error.message
            context.trace.note { facts in
                facts.function?.messages.append("%function \(question.name): \(reason)")
            }
            return nil
        }
    }
}
