public import BSON

/// What the functions of one app are, at one version of its configuration.
///
/// A worker keeps the bundle of the last version it ran, so that a call sends no sources.
public final class ScriptBundle: Sendable {
    /// The app; workers are never shared between apps.
    public let app: String
    /// Grows with each change of the configuration.
    public let version: Int64
    /// Name → JavaScript, `utils/add` for a function in a folder.
    public let functions: [String: String]
    /// Path below `node_modules/` → content, of the packages that the app brought.
    public let modules: [String: [UInt8]]
    /// What `context.app` is.
    public let appFacts: BSONDocument
    /// `context.environment`: `tag` and `values`.
    public let environment: BSONDocument
    /// `context.values`, secrets that a value exposes included.
    public let values: BSONDocument
    /// What `context.services.get` knows: name → type, `mongodb-atlas` for data sources.
    public let services: [String: String]
    /// The functions whose sources name a fact of the call.
    private let naming: [CallFact: Set<String>]
    /// Those that need no engine.
    private let straight = StraightFunctions()

    /// Made of its parts.
    public init(
        app: String,
        version: Int64,
        functions: [String: String],
        modules: [String: [UInt8]] = [:],
        appFacts: BSONDocument = [:],
        environment: BSONDocument = [:],
        values: BSONDocument = [:],
        services: [String: String] = [:]
    ) {
        self.app = app
        self.version = version
        self.functions = functions
        self.modules = modules
        self.appFacts = appFacts
        self.environment = environment
        self.values = values
        self.services = services
        func naming(_ fact: CallFact) -> Set<String> {
            Set(functions.filter { $0.value.contains(fact.rawValue) }.keys)
        }
        self.naming = [.user: naming(.user), .request: naming(.request)]
    }

    /// A function as one that needs no engine; nil for any other.
    func straight(_ name: String) -> StraightFunction? {
        guard let source = functions[name] else { return nil }
        return straight.function(name, source)
    }

    /// Hears whether a run of such a function that had read something was over without the engine.
    func read(_ name: String, wasStraight: Bool) { straight.read(name, wasStraight: wasStraight) }

    /// Whether a function is likely to look at a fact of its call: one that gets there in another way waits for it.
    func mentions(_ fact: CallFact, _ function: String) -> Bool { naming[fact]?.contains(function) ?? true }
}
