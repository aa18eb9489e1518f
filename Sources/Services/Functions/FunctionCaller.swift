public import Accounts
public import BSON
public import Rules
public import Scripting

/// Who asks for the run of a function, and from where.
public struct FunctionCaller: Sendable {
    /// From where a call comes, which decides what is checked.
    public enum Door: Sendable, Hashable {
        /// A client's own call: private functions are not there, and `can_evaluate` must hold.
        case client
        /// An endpoint: `can_evaluate` must hold.
        case endpoint
        /// The gateway itself: a rule, a trigger, a login, an operator. Nothing is asked.
        case inside
    }

    /// A user, the system, or nobody who is known.
    public let principal: Principal?
    /// From where the call comes.
    public let door: Door
    /// What `context.request` and `%%request` are, asked when they are wanted; nil outside of requests.
    public let request: @Sendable () -> RuleRequest?
    /// Whether a user whom the function's settings name comes with custom data: an endpoint may say no.
    public let fetchesCustomUserData: Bool
    /// Whether it is a trigger, whose log keeps the first lines of the console rather than the last.
    public let isTrigger: Bool
    /// Who waits for the answer, where the call is theirs alone.
    var presence: CallerPresence? { door == .inside ? nil : .current }

    /// Made of its parts.
    public init(
        principal: Principal?,
        door: Door,
        request: @autoclosure @escaping @Sendable () -> RuleRequest? = nil,
        fetchesCustomUserData: Bool = true,
        isTrigger: Bool = false
    ) {
        self.principal = principal
        self.door = door
        self.request = request
        self.fetchesCustomUserData = fetchesCustomUserData
        self.isTrigger = isTrigger
    }

    /// The gateway itself, as the system.
    public static let system = FunctionCaller(principal: .system, door: .inside)

    /// A trigger, which runs as the system.
    public static let trigger = FunctionCaller(principal: .system, door: .inside, isTrigger: true)
}

/// What became of a run that went well.
public struct FunctionResult: Sendable {
    /// What the function returned; undefined for nothing.
    public let value: BSONValue
    /// What an endpoint's function made of its response.
    public let response: ScriptOutcome.Response?
    /// What it wrote to the console.
    public let messages: [String]
    /// Bytes · milliseconds that the run held.
    public let memoryTime: Int64

    /// Whether writing the value takes long enough to be done away from an event loop.
    public var isLong: Bool {
        switch value {
        case .array(let elements): elements.count > 100
        case .document(let document): document.count > 100
        case .string(let text): text.utf8.count > 262_144
        case .binary(let binary): binary.bytes.count > 262_144
        default: false
        }
    }
}
