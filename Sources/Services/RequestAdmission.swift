import Accounts
public import AppDefinition
import BSON
import Crypto
public import Errors
public import Rules

/// Whether a request is taken at all, before it is asked as whom, and whether its caller may make it: for the
/// Data API, custom endpoints and calls of functions.
///
/// Source: `reference/data-api.md` §§6.1, 9.3; `reference/functions.md` §3.4.
public struct RequestAdmission: Sendable {
    private let app: AppSnapshot
    private let validation: RequestValidation
    private let condition: RuleExpression

    /// For what the configuration of an app asks.
    ///
    /// - Parameters:
    ///   - app: The app that is called.
    ///   - validation: What a request must prove.
    ///   - condition: What must hold for its caller.
    public init(
        app: AppSnapshot,
        validation: RequestValidation = .none,
        condition: RuleExpression = .constant(true)
    ) {
        self.app = app
        self.validation = validation
        self.condition = condition
    }

    /// For the Data API of an app.
    public static func dataAPI(of app: AppSnapshot) -> RequestAdmission {
        RequestAdmission(app: app, validation: app.dataAPI.validation, condition: app.dataAPI.canEvaluate)
    }

    /// Whether the request proves that it knows the secret that the settings name; a secret that is not set is
    /// known to nobody.
    ///
    /// - Parameters:
    ///   - secret: The query parameter `secret`.
    ///   - signature: The header `X-Hook-Signature` or `Endpoint-Signature`: 64 hexadecimal digits, as a rule behind
    ///     `sha256=`.
    ///   - body: The bytes that were signed.
    /// - Returns: False when the request must be refused.
    public func isValidated(secret: String?, signature: String?, body: [UInt8]) -> Bool {
        switch validation {
        case .none: return true
        case .secretAsQueryParameter(let name):
            guard let expected = app.secrets[name], let secret else { return false }
            // Digests are compared, so that the time says nothing of where two texts differ.
            return SHA256.hash(data: Array(expected.utf8)) == SHA256.hash(data: Array(secret.utf8))
        case .payloadSignature(let name):
            guard let expected = app.secrets[name], let signature else { return false }
            let prefix = "sha256=".utf8
            let digits =
                signature.utf8.starts(with: prefix)
                ? signature.utf8.dropFirst(prefix.count) : signature.utf8[...]
            guard digits.count == 64,
                digits.allSatisfy({
                    UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                        || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 | 0x20
                })
            else { return false }
            return HMAC<SHA256>.isValidAuthenticationCode(
                AppRows.bytes(hex: Array(digits)[...]),
                authenticating: body,
                using: SymmetricKey(data: Array(expected.utf8))
            )
        }
    }

    /// Whether `can_evaluate` holds for the caller of a request; functions that it names are asked.
    ///
    /// What cannot be decided does not hold.
    /// - Throws: ``ServiceError`` `executionTimeLimitExceeded` when functions took longer than the request may.
    public func admits(
        _ context: CallContext,
        asking data: DataService
    ) async throws(ServiceError) -> Bool {
        guard condition != .constant(true) else { return true }
        guard let questions = data.questions(context) else {
            return admits(context.principal, request: context.request())
        }
        let answers = FunctionAnswers()
        return try await questions.deciding(answers, within: nil) {
            admits(context.principal, request: context.request(), answers)
        }
    }

    /// As ``admits(_:asking:)`` with the answers of functions that are known so far.
    func admits(
        _ principal: Principal,
        request: @autoclosure @escaping @Sendable () -> RuleRequest?,
        _ answers: FunctionAnswers? = nil
    ) -> Bool {
        guard condition != .constant(true) else { return true }
        let user: RuleUser? = if case .user(let profile) = principal { RuleUser(profile) } else { nil }
        // A condition on a request is the apply_when of a role that no document can change.
        let rules = CollectionRules(roles: [
            Role(name: "can_evaluate", applyWhen: condition, read: .constant(true))
        ])
        let context = RuleContext(
            user: user,
            values: app.values,
            environmentTag: app.environmentTag,
            environmentValues: app.environmentValues,
            request: request(),
            answers: answers
        )
        do {
            return try RoleResolver.resolve(rules: rules, schema: nil, context: context)
                .visible(["_id": .null]) != nil
        } catch {
            return false
        }
    }
}
