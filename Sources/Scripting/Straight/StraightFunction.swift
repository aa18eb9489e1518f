internal import BSON
import Synchronization

/// A function that needs no engine: it names what it has at hand, looks at what it reads, and returns a value or the
/// answer to one more data call.
///
/// ```js
/// exports = async function (id) {
///   const tasks = context.services.get("mongodb-atlas").db("todo").collection("tasks");
///   return await tasks.findOne({ _id: new BSON.ObjectId(id), owner_id: context.user.id });
/// };
/// ```
///
/// There are no loops, no functions but those that a list's methods take, and no calls but of `context`, of collections,
/// cursors, lists and texts. ``StraightParser`` reads it, with doubt: a source that it does not know all of is the
/// engine's. ``StraightRun`` runs it, with doubt as well: until its last call it has changed nothing, so that whatever it
/// is not sure of (a value that is missing, an object that is compared) is left to the engine, from the beginning.
struct StraightFunction: Sendable {
    /// What arguments are bound to.
    let parameters: [Pattern]
    let body: [Statement]
    /// How many names there are.
    let slots: Int
    /// Whether it goes on in another way where a call fails.
    let catches: Bool
    /// Whether it may ask the data for something.
    let asks: Bool

    /// What a value is bound to.
    enum Pattern: Sendable {
        case slot(Int)
        /// Of an object: its members by name.
        case members([(name: String, slot: Int)])
    }

    enum Statement: Sendable {
        case bind(Pattern, to: Expression)
        case returns(Expression?)
        /// Done for itself, its value is not wanted.
        case evaluate(Expression)
        /// A line for the log of the call.
        case log([Expression])
        /// What fails in there is the engine's.
        indirect case attempt([Statement])
        /// The engine's.
        case throwing
        indirect case choice(Expression, then: [Statement], otherwise: [Statement])
    }

    indirect enum Expression: Sendable {
        /// As functions return it: see `BSONValue.asReturned`.
        case constant(BSONValue)
        case undefined
        case local(Int)
        case context
        case template([Piece])
        case array([Expression])
        case object([(key: String, value: Expression)])
        case chain(Expression, [Link])
        /// Of `BSON.ObjectId`, with `new` or without.
        case newObjectID(Expression?)
        case newDate
        case awaited(Expression)
        case not(Expression)
        case typeOf(Expression)
        case equals(Expression, Expression, isStrict: Bool)
        case compare(Comparison, Expression, Expression)
        case arithmetic(Arithmetic, Expression, Expression)
        case and(Expression, Expression)
        case or(Expression, Expression)
        case unlessNullish(Expression, Expression)
        case choice(Expression, then: Expression, otherwise: Expression)
    }

    enum Comparison: Sendable { case less, lessOrEqual, greater, greaterOrEqual }

    enum Arithmetic: Sendable { case plus, minus, times, over, modulo }

    /// Of a template.
    enum Piece: Sendable {
        case text(String)
        case value(Expression)
    }

    /// What follows a value: a member, an element or a method's call.
    enum Link: Sendable {
        case member(String, isOptional: Bool)
        case element(Expression)
        case call(String, [Expression], isOptional: Bool, at: Place)
        case each(Walk, Callback, from: Expression?)
    }

    /// How a list's method walks through it.
    enum Walk: String, Sendable { case map, filter, find, some, every, reduce }

    /// `(a, b) => …`, of what a walk hands it.
    struct Callback: Sendable {
        let parameters: [Int]
        let body: Expression
    }

    /// Where a call stands, as the engine tells it: behind the name of what is called.
    struct Place: Sendable {
        /// From 1.
        let line: Int
        /// From 1, in UTF-16 units.
        let column: Int
    }
}

/// What a straight function's source, or a run of it, is that only the engine knows: then it runs there.
struct NotStraight: Error {}

/// The functions of one version of an app that were looked at, each once.
final class StraightFunctions: Sendable {
    private struct Known {
        var function: StraightFunction?
        var credit = StraightFunctions.credit
    }

    /// What a function that reads on after an answer has at first, what one for the engine then takes, the most it has.
    private static let (credit, loss, mostCredit) = (16, 4, 64)

    private let known = Mutex<[String: Known]>([:])

    /// Nil for one that needs the engine.
    func function(_ name: String, _ source: String) -> StraightFunction? {
        if let known = known.withLock({ $0[name] }) { return known.function }
        let function = StraightParser.read(source)
        known.withLock { $0[name] = Known(function: function) }
        return function
    }

    /// Hears whether a run that had read something was over without the engine.
    ///
    /// Most of a function's are to be: what the others have read is read once more.
    func read(_ name: String, wasStraight: Bool) {
        known.withLock { known in
            guard var entry = known[name] else { return }
            entry.credit = min(entry.credit + (wasStraight ? 1 : -Self.loss), Self.mostCredit)
            if entry.credit < 0 { entry.function = nil }
            known[name] = entry
        }
    }
}
