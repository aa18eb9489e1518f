import Accounts
import AppDefinition
public import BSON
public import Errors
public import Observability
import Rules
public import Scripting
import Synchronization

/// Runs the functions of apps: for clients, endpoints, logins, rules, triggers and operators.
///
/// One run goes lookup → admission → run-as → script. Whatever the script asks of the data goes through
/// ``DataService`` as the principal that the function runs as.
///
/// Source: `reference/functions.md`.
public final class FunctionService: Sendable {
    /// What a script's `context.http` sends is asked of this; the operator's address list is its matter.
    public typealias Outbound =
        @Sendable (
            _ arguments: BSONDocument, _ appID: String, _ deadline: ContinuousClock.Instant
        ) async -> Result<BSONValue, HostError>

    let accounts: AccountService
    let data: DataService
    let scripts: any Scripts
    let outbound: Outbound?
    /// How much functions may take.
    public let limits: FunctionLimits
    let places: TransactionPlaces
    private let bundles: ScriptBundles
    private let running = Mutex<[String: Int]>([:])

    /// How many functions lie around what this task does: a function whose data call asks a rule that calls a
    /// function, and so on.
    @TaskLocal static var depth = 0
    static let greatestDepth = 64

    /// Made of what it works with.
    ///
    /// - Parameters:
    ///   - accounts: Knows the users that functions run as.
    ///   - data: Answers what scripts ask of collections.
    ///   - scripts: Runs the JavaScript.
    ///   - outbound: Answers `context.http`; nil refuses it.
    ///   - limits: How much functions may take.
    ///   - observer: Learns of packages that cannot be read.
    public init(
        accounts: AccountService,
        data: DataService,
        scripts: any Scripts,
        outbound: Outbound? = nil,
        limits: FunctionLimits = FunctionLimits(),
        observer: Observer? = nil
    ) {
        self.accounts = accounts
        self.data = data
        self.scripts = scripts
        self.outbound = outbound
        self.limits = limits
        places = TransactionPlaces(most: limits.transactions, mostPerApp: limits.transactions)
        bundles = ScriptBundles(database: data.database, observer: observer)
    }

    /// Runs a function to its end.
    ///
    /// - Parameters:
    ///   - name: As in `functions/config.json`.
    ///   - arguments: What it is called with.
    ///   - caller: Who asks, and from where.
    ///   - app: The app at one version.
    ///   - form: Whether it answers with a value or through a response.
    ///   - deadline: When the answer is due; the limit of the run time applies beside it.
    ///   - trace: Learns what the log says of the run, also when it fails.
    ///   - transaction: In which its data calls take place; nil is one for each.
    /// - Returns: What the function returned.
    /// - Throws: ``ServiceError`` as ``FunctionFailure`` lists them.
    public func run(
        _ name: String,
        arguments: [BSONValue],
        caller: FunctionCaller,
        app: AppSnapshot,
        form: ScriptCall.Form = .plain,
        deadline: ContinuousClock.Instant,
        trace: RequestTrace,
        within transaction: EnclosingTransaction? = nil
    ) async throws(ServiceError) -> FunctionResult {
        guard let function = app.function(name), caller.door != .client || !function.isPrivate else {
            throw FunctionFailure.notFound(name)
        }
        let logged = function.hidesArguments ? nil : FunctionLogText.arguments(arguments)
        trace.note { $0.function = .init(name: function.name, arguments: logged) }
        if caller.door != .inside, function.canEvaluate != .constant(true) {
            let admission = RequestAdmission(app: app, condition: function.canEvaluate)
            let asked = CallContext(
                app: app,
                principal: caller.principal ?? .system,
                request: caller.request(),
                deadline: min(deadline, .now + limits.runTime),
                trace: trace
            )
            guard try await admission.admits(asked, asking: data) else {
                throw FunctionFailure.notAdmitted(function.name)
            }
        }
        guard Self.depth < Self.greatestDepth else {
            throw ServiceError(
                .functionExecutionError,
                "functions and rules call each other more than \(known: Self.greatestDepth) levels deep"
            )
        }
        try enter(app)
        defer { leave(app) }
        if let result = try runAtOnce(function, arguments, caller, app, form, deadline, trace) {
            return result
        }
        var call = try await self.call(app, caller.request, deadline, trace)
        call.enclosing = transaction
        call.keepsFirstLines = caller.isTrigger
        call.caller = caller.presence
        let identity = try await identity(of: function, arguments, caller, call)
        return try await run(.named(function.name), form, arguments, as: identity, call)
    }

    /// Runs a function that waits for nothing; nil for any other, of which nothing has happened.
    private func runAtOnce(
        _ function: FunctionDefinition,
        _ arguments: [BSONValue],
        _ caller: FunctionCaller,
        _ app: AppSnapshot,
        _ form: ScriptCall.Form,
        _ deadline: ContinuousClock.Instant,
        _ trace: RequestTrace
    ) throws(ServiceError) -> FunctionResult? {
        guard let bundle = bundles.known(of: app), let identity = identityAtHand(of: function, caller) else {
            return nil
        }
        let call = Call(
            app: app,
            bundle: bundle,
            request: caller.request,
            deadline: min(deadline, .now + limits.runTime),
            trace: trace
        )
        trace.enter(.function)
        let outcome = scripts.runAtOnce(
            scriptCall(.named(function.name), form, arguments, identity, call),
            of: bundle
        )
        return try outcome.map { outcome throws(ServiceError) in
            try result(of: outcome, .named(function.name), call, mayWrite: false)
        }
    }

    /// What all scripts of one run share.
    struct Call {
        let app: AppSnapshot
        let bundle: ScriptBundle
        let request: @Sendable () -> RuleRequest?
        let deadline: ContinuousClock.Instant
        let trace: RequestTrace
        /// The transaction of the write whose rules asked for the run.
        var enclosing: EnclosingTransaction?
        /// Whether the log keeps the first lines of the console rather than the last.
        var keepsFirstLines = false
        /// Who waits for the answer; nil where it is not theirs alone.
        var caller: CallerPresence?
    }

    /// What the scripts of one run share, within the limit of the run time.
    func call(
        _ app: AppSnapshot,
        _ request: @escaping @Sendable () -> RuleRequest?,
        _ deadline: ContinuousClock.Instant,
        _ trace: RequestTrace
    ) async throws(ServiceError) -> Call {
        Call(
            app: app,
            bundle: try await bundles.bundle(of: app),
            request: request,
            deadline: min(deadline, .now + limits.runTime),
            trace: trace
        )
    }

    /// Runs one script.
    func run(
        _ entry: ScriptCall.Entry,
        _ form: ScriptCall.Form,
        _ arguments: [BSONValue],
        as identity: FunctionIdentity,
        _ call: Call
    ) async throws(ServiceError) -> FunctionResult {
        let host = FunctionHost(self, call, identity, depth: Self.depth + 1)
        call.trace.enter(.function)
        let outcome = await scripts.run(
            scriptCall(entry, form, arguments, identity, call),
            of: call.bundle,
            host: host
        )
        return try result(of: outcome, entry, call, mayWrite: host.changesDocuments)
    }

    private func scriptCall(
        _ entry: ScriptCall.Entry,
        _ form: ScriptCall.Form,
        _ arguments: [BSONValue],
        _ identity: FunctionIdentity,
        _ call: Call
    ) -> ScriptCall {
        ScriptCall(
            entry: entry,
            form: form,
            arguments: arguments,
            user: identity.user,
            request: call.request()?.functionDocument,
            runsAsSystem: identity.runsAsSystem,
            deadline: call.deadline,
            keepsFirstLines: call.keepsFirstLines,
            caller: call.caller
        )
    }

    /// What a run came to, which the log is told as well.
    private func result(
        of outcome: ScriptOutcome,
        _ entry: ScriptCall.Entry,
        _ call: Call,
        mayWrite: Bool
    ) throws(ServiceError) -> FunctionResult {
        call.trace.enter(.evaluate)
        call.trace.note { facts in
            facts.function?.messages += outcome.messages
            facts.function?.memoryTime += outcome.memoryTime
            if mayWrite { facts.mayWrite = true }
        }
        switch outcome.result {
        case .success(let value):
            return FunctionResult(
                value: value,
                response: outcome.response,
                messages: outcome.messages,
                memoryTime: outcome.memoryTime
            )
        case .failure(let failure):
            let name = if case .named(let name) = entry { name } else { "" }
            call.trace.note { $0.function?.error = FunctionLogText.error(failure) }
            throw FunctionFailure.error(failure, name: name)
        }
    }

    // MARK: Runs at once

    private func enter(_ app: AppSnapshot) throws(ServiceError) {
        let most = limits.concurrentRunsPerApp
        let fits = running.withLock { running in
            let count = running[app.id, default: 0]
            guard count < most else { return false }
            running[app.id] = count + 1
            return true
        }
        guard fits else { throw FunctionFailure.tooMany(most) }
    }

    private func leave(_ app: AppSnapshot) {
        running.withLock { running in
            guard let count = running[app.id] else { return }
            running[app.id] = count > 1 ? count - 1 : nil
        }
    }

    /// Runs under way, of all apps.
    public var underWay: Int { running.withLock { $0.values.reduce(0, +) } }
}
