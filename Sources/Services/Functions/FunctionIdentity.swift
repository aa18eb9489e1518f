public import Accounts
import AppDefinition
import BSON
public import Errors
public import Observability
public import Rules
import Scripting

/// As whom a function runs: to the data, and to itself.
struct FunctionIdentity: Sendable {
    /// Whose rules apply to what it does.
    let principal: Principal
    /// `context.user`.
    let user: BSONDocument

    /// What `context.runningAsSystem()` answers.
    var runsAsSystem: Bool { if case .system = principal { true } else { false } }

    /// The system, on behalf of somebody or nobody.
    static func system(for caller: Principal?) -> FunctionIdentity {
        FunctionIdentity(principal: .system, user: FunctionUser.document(caller, hidesData: true))
    }

    /// A user, or the system by itself.
    init(_ principal: Principal) {
        self.init(principal: principal, user: FunctionUser.document(principal, hidesData: false))
    }

    private init(principal: Principal, user: BSONDocument) {
        self.principal = principal
        self.user = user
    }
}

extension FunctionService {
    /// Finds out as whom a function runs.
    ///
    /// Source: `reference/functions.md` §1; the script gets the function's own arguments.
    func identity(
        of function: FunctionDefinition,
        _ arguments: [BSONValue],
        _ caller: FunctionCaller,
        _ call: Call
    ) async throws(ServiceError) -> FunctionIdentity {
        if let identity = identityAtHand(of: function, caller) { return identity }
        if let id = function.runsAsUserID {
            return FunctionIdentity(try await user(id, function.name, caller, call.app))
        }
        if let source = function.runsAsUserScript {
            return try await identity(byScript: source, of: function.name, arguments, caller, call)
        }
        throw AccountFailure.noCredentials
    }

    /// As whom a function runs where nobody has to be asked; nil for any other, and where nobody is known.
    func identityAtHand(of function: FunctionDefinition, _ caller: FunctionCaller) -> FunctionIdentity? {
        if function.runsAsSystem { return .system(for: caller.principal) }
        return function.runsAsCaller ? caller.principal.map { FunctionIdentity($0) } : nil
    }

    /// As whom something runs whose configuration has a script say so.
    private func identity(
        byScript source: String,
        of name: String,
        _ arguments: [BSONValue],
        _ caller: FunctionCaller,
        _ call: Call
    ) async throws(ServiceError) -> FunctionIdentity {
        let script = try await run(
            .source(source),
            .plain,
            arguments,
            as: .system(for: caller.principal),
            call
        )
        switch script.value {
        case .string(let id): return FunctionIdentity(try await user(id, name, caller, call.app))
        case .objectID(let id): return FunctionIdentity(try await user(id.hex, name, caller, call.app))
        case .document(let answer)
        where answer["runAsSystem"] == .bool(true) || answer["runAsSystemUser"] == .bool(true):
            return .system(for: caller.principal)
        default: throw FunctionFailure.noIdentity(name)
        }
    }

    private func user(
        _ id: String,
        _ name: String,
        _ caller: FunctionCaller,
        _ app: AppSnapshot
    ) async throws(ServiceError) -> Principal {
        let profile = try await accounts.profile(
            ofUser: id,
            app.accounts,
            fetchesCustomUserData: caller.fetchesCustomUserData
        )
        guard let profile else {
            throw FunctionFailure.noSuchUser(name)
        }
        return .user(profile)
    }

    /// As whom a request of the Data API runs, where a script says so.
    ///
    /// - Throws: ``ServiceError`` as ``FunctionFailure`` lists them.
    public func principal(
        byScript source: String,
        app: AppSnapshot,
        request: RuleRequest?,
        deadline: ContinuousClock.Instant,
        trace: RequestTrace
    ) async throws(ServiceError) -> Principal {
        let call = try await self.call(app, { request }, deadline, trace)
        let caller = FunctionCaller(
            principal: .system,
            door: .inside,
            request: request,
            fetchesCustomUserData: app.dataAPI.fetchesCustomUserData
        )
        return try await identity(byScript: source, of: "data_api", [], caller, call).principal
    }
}

extension AccountService {
    /// A user that somebody else names, with its custom data if wanted; nil for one that is not there or disabled.
    public func profile(
        ofUser id: String,
        _ settings: AccountSettings,
        fetchesCustomUserData: Bool = true
    ) async throws(ServiceError) -> UserProfile? {
        guard let user = try await user(UserKey(appID: settings.appID, userID: id)), !user.disabled else {
            return nil
        }
        guard fetchesCustomUserData else { return user.profile }
        return user.profile.with(customData: try await customData(of: id, settings))
    }
}
