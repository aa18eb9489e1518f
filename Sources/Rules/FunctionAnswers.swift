public import BSON
import Synchronization

/// A call of a function that a rule asks for, everything in it known.
///
/// Source: `rules.md` §8.3, `%function`.
public struct FunctionQuestion: Sendable, Hashable {
    /// The function's name.
    public let name: String
    /// Its arguments; a missing expansion is `undefined`.
    public let arguments: [BSONValue]

    /// A question.
    public init(name: String, arguments: [BSONValue]) {
        self.name = name
        self.arguments = arguments
    }
}

/// What rules ask of functions in the course of one operation.
///
/// Rules never run a function themselves. Whoever decides by them decides, finds the questions that came up,
/// answers them, and decides anew; what has no answer is missing, so that nothing follows from it.
public final class FunctionAnswers: Sendable {
    private struct State {
        /// The inner nil is the answer of a function that failed.
        var known: [FunctionQuestion: BSONValue?] = [:]
        var open: [FunctionQuestion] = []
        var isOpen: Set<FunctionQuestion> = []
        var wasAsked = false
    }

    private let state = Mutex(State())

    /// Nothing asked yet.
    public init() {}

    /// The questions without an answer, in the order in which they came up; they are not given again.
    public func takeOpen() -> [FunctionQuestion] {
        state.withLock { state in
            defer {
                state.open = []
                state.isOpen = []
            }
            return state.open
        }
    }

    /// Keeps an answer; nil from a function that failed, which makes the comparison false.
    public func answer(_ question: FunctionQuestion, _ value: BSONValue?) {
        state.withLock { _ = $0.known.updateValue(value, forKey: question) }
    }

    /// Whether any function was asked for.
    var wasAsked: Bool { state.withLock { $0.wasAsked } }

    /// The answer; nil where there is none, and then the question is open unless its function failed.
    func value(of question: FunctionQuestion) -> BSONValue? {
        state.withLock { state in
            state.wasAsked = true
            if let known = state.known[question] { return known }
            if state.isOpen.insert(question).inserted { state.open.append(question) }
            return nil
        }
    }
}

/// `{"%function": {"name": …, "arguments": […]}}` as the right-hand side of a comparison.
public struct FunctionOperand: Sendable, Hashable {
    /// The function's name.
    public let name: String
    let arguments: [RuleOperand]
    /// Where its answers are, once a caller is known.
    let answers: FunctionAnswers?

    init(name: String, arguments: [RuleOperand], answers: FunctionAnswers? = nil) {
        self.name = name
        self.arguments = arguments
        self.answers = answers
    }

    /// Two are the same when they ask the same; whom they ask belongs to the operation.
    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.arguments == right.arguments
    }

    /// Feeds what is asked.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(arguments)
    }
}
