import BSON
import Foundation
import Scripting
import Synchronization
import TestSupport

/// A pool of real workers, and an app made of the sources that a test gives.
struct ScriptFixture {
    /// One pool for the suites that do not break it.
    static let shared = pool(ScriptLimits(workers: 3, idle: .seconds(20)))

    /// A pool in which every function has the engine.
    static func pool(_ limits: ScriptLimits) -> ScriptPool {
        ScriptPool(
            command: [RunningServer.binary.path, "function-worker"],
            limits: limits,
            runsStraight: false
        )
    }

    private static let versions = Mutex<Int64>(0)

    /// A bundle that no worker holds yet.
    static func bundle(
        _ functions: [String: String],
        app: String = "test",
        modules: [String: String] = [:],
        values: BSONDocument = ["limit": 7],
        environment: BSONDocument = ["tag": "testing", "values": ["url": "https://example.com"]]
    ) -> ScriptBundle {
        let version = versions.withLock { number in
            number += 1
            return number
        }
        return ScriptBundle(
            app: app,
            version: version,
            functions: functions,
            modules: modules.mapValues { Array($0.utf8) },
            appFacts: ["id": "65a1", "clientAppId": "test-abcde", "name": "test"],
            environment: environment,
            values: values,
            services: ["mongodb-atlas": "mongodb-atlas"]
        )
    }

    static func call(
        _ entry: ScriptCall.Entry,
        _ arguments: [BSONValue] = [],
        form: ScriptCall.Form = .plain,
        request: BSONDocument? = nil,
        isSystem: Bool = false,
        within: Duration = .seconds(240),
        caller: CallerPresence? = nil
    ) -> ScriptCall {
        ScriptCall(
            entry: entry,
            form: form,
            arguments: arguments,
            user: ["id": "5cbf68583025b12840664682", "type": "normal", "data": ["email": "a@example.com"]],
            request: request,
            runsAsSystem: isSystem,
            deadline: .now + within,
            caller: caller
        )
    }

    /// Runs one source with the shared pool.
    static func run(
        _ source: String,
        _ arguments: BSONValue...,
        host: any ScriptHost = RecordingHost(),
        pool: ScriptPool = shared
    ) async -> ScriptOutcome {
        await pool.run(call(.named("test"), arguments), of: bundle(["test": source]), host: host)
    }

    /// The result of a source, as canonical text; the failure's message after a `!`.
    static func text(
        _ source: String,
        _ arguments: BSONValue...,
        host: any ScriptHost = RecordingHost()
    ) async -> String {
        let outcome = await shared.run(
            call(.named("test"), arguments),
            of: bundle(["test": source]),
            host: host
        )
        return text(outcome)
    }

    /// Why a run failed; nil when it did not.
    static func reason(_ outcome: ScriptOutcome) -> ScriptFailure.Reason? {
        guard case .failure(let failure) = outcome.result else { return nil }
        return failure.reason
    }

    static func text(_ outcome: ScriptOutcome) -> String {
        switch outcome.result {
        case .success(let value): ExtendedJSON.canonical(value)
        case .failure(let failure): "!" + failure.message
        }
    }
}

/// A host with documents of its own, which notes what it was asked.
final class RecordingHost: ScriptHost {
    private let state = Mutex(State())
    private let respond: @Sendable (HostCall) async -> Result<BSONValue, HostError>

    private struct State {
        var calls: [HostCall] = []
        var ends = 0
    }

    init(
        _ respond: @escaping @Sendable (HostCall) async -> Result<BSONValue, HostError> = { call in
            .failure(HostError("nobody answers \(call.name)"))
        }
    ) {
        self.respond = respond
    }

    /// One that has the same answer for all.
    static func answering(_ answer: Result<BSONValue, HostError>) -> RecordingHost {
        RecordingHost { call in
            // Never is there nothing where documents are asked for.
            let finds = ["find", "aggregate"].contains(call.arguments["method"]?.string)
            return finds && answer == .success(.null) ? .success([]) : answer
        }
    }

    var calls: [HostCall] { state.withLock { $0.calls } }
    var ends: Int { state.withLock { $0.ends } }

    /// Name and arguments of each call, a line each.
    var log: [String] {
        calls.map { "\($0.name) \(ExtendedJSON.relaxed($0.arguments))" }
    }

    func answer(_ call: HostCall) async -> Result<BSONValue, HostError> {
        state.withLock { $0.calls.append(call) }
        return await respond(call)
    }

    func end() async {
        state.withLock { $0.ends += 1 }
    }
}
