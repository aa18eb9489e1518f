internal import BSON
import Synchronization

/// A function that needs no engine: it names what it has at hand, and returns a value or the answer to one data call.
///
/// ```js
/// exports = async function (id) {
///   const tasks = context.services.get("mongodb-atlas").db("todo").collection("tasks");
///   return await tasks.findOne({ _id: new BSON.ObjectId(id), owner_id: context.user.id });
/// };
/// ```
///
/// There are no loops, no functions within it and no calls but of `context`, of collections and cursors. ``StraightParser``
/// reads it, with doubt: a source that it does not know all of is the engine's. ``StraightRun`` runs it, with doubt as
/// well: until it asks for data it has changed nothing, so that whatever it is not sure of (a value that is missing, an
/// object that is compared) is left to the engine, from the beginning.
struct StraightFunction: Sendable {
    /// What arguments are bound to.
    let parameters: [Pattern]
    let body: [Statement]
    /// How many names there are.
    let slots: Int

    /// What a value is bound to.
    enum Pattern: Sendable {
        case slot(Int)
        /// Of an object: its members by name.
        case members([(name: String, slot: Int)])
    }

    enum Statement: Sendable {
        case bind(Pattern, to: Expression)
        case returns(Expression?)
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
        case equals(Expression, Expression, isStrict: Bool)
        case and(Expression, Expression)
        case or(Expression, Expression)
        case unlessNullish(Expression, Expression)
        case choice(Expression, then: Expression, otherwise: Expression)
    }

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
    private let known = Mutex<[String: StraightFunction?]>([:])

    func function(_ name: String, _ source: String) -> StraightFunction? {
        if let function = known.withLock({ $0[name] }) { return function }
        let function = StraightParser.read(source)
        known.withLock { $0[name] = .some(function) }
        return function
    }
}
