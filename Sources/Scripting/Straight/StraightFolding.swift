internal import BSON

/// Works out once what comes to the same in every run: expressions that name nothing from outside of themselves, such as
/// the stages of a pipeline.
struct StraightFolding {
    private typealias Expression = StraightFunction.Expression

    /// What is looked at, and made, for one expression at the most; more is worked out where it is wanted.
    private static let (steps, room) = (1 << 10, 1 << 14)

    private let slots: Int

    /// The same function with constants in place of such expressions.
    static func folded(_ function: StraightFunction) -> StraightFunction {
        let folding = StraightFolding(slots: function.slots)
        return StraightFunction(
            parameters: function.parameters,
            body: function.body.map(folding.folded),
            slots: function.slots,
            catches: function.catches,
            asks: function.asks
        )
    }

    private func folded(_ statement: StraightFunction.Statement) -> StraightFunction.Statement {
        switch statement {
        case .bind(let pattern, let expression): .bind(pattern, to: folded(expression))
        case .returns(let expression): .returns(expression.map(folded))
        case .evaluate(let expression): .evaluate(folded(expression))
        case .log(let expressions): .log(expressions.map(folded))
        case .attempt(let body): .attempt(body.map(folded))
        case .throwing: .throwing
        case .choice(let condition, let then, let otherwise):
            .choice(folded(condition), then: then.map(folded), otherwise: otherwise.map(folded))
        }
    }

    private func folded(_ expression: Expression) -> Expression {
        switch expression {
        case .constant, .undefined, .local, .context, .newDate: return expression
        default: break
        }
        if let constant = constant(expression) { return .constant(constant) }
        switch expression {
        case .template(let pieces): return .template(pieces.map(folded))
        case .array(let elements): return .array(elements.map(folded))
        case .object(let members): return .object(members.map { ($0.key, folded($0.value)) })
        case .chain(let base, let links): return .chain(folded(base), links.map(folded))
        case .newObjectID(let text): return .newObjectID(text.map(folded))
        case .awaited(let value): return .awaited(folded(value))
        case .not(let value): return .not(folded(value))
        case .typeOf(let value): return .typeOf(folded(value))
        case .equals(let left, let right, let isStrict):
            return .equals(folded(left), folded(right), isStrict: isStrict)
        case .compare(let comparison, let left, let right):
            return .compare(comparison, folded(left), folded(right))
        case .arithmetic(let sign, let left, let right):
            return .arithmetic(sign, folded(left), folded(right))
        case .and(let left, let right): return .and(folded(left), folded(right))
        case .or(let left, let right): return .or(folded(left), folded(right))
        case .unlessNullish(let left, let right): return .unlessNullish(folded(left), folded(right))
        case .choice(let condition, let then, let otherwise):
            return .choice(folded(condition), then: folded(then), otherwise: folded(otherwise))
        case .constant, .undefined, .local, .context, .newDate: return expression
        }
    }

    private func folded(_ piece: StraightFunction.Piece) -> StraightFunction.Piece {
        if case .value(let expression) = piece { .value(folded(expression)) } else { piece }
    }

    private func folded(_ link: StraightFunction.Link) -> StraightFunction.Link {
        switch link {
        case .member: link
        case .element(let expression): .element(folded(expression))
        case .call(let name, let arguments, let isOptional, let place):
            .call(name, arguments.map(folded), isOptional: isOptional, at: place)
        case .each(let walk, let callback, let start):
            .each(
                walk,
                StraightFunction.Callback(parameters: callback.parameters, body: folded(callback.body)),
                from: start.map(folded)
            )
        }
    }

    /// What an expression comes to in every run; nil for one that is another in each, or the engine's.
    private func constant(_ expression: Expression) -> BSONValue? {
        guard isClosed(expression, []) else { return nil }
        var run = StraightRun.closed(slots: slots, steps: Self.steps, room: Self.room)
        guard case .made(let value)? = try? run.operand(expression) else { return nil }
        return value
    }

    /// Whether it names nothing but what the callbacks around it are handed.
    private func isClosed(_ expression: Expression, _ bound: Set<Int>) -> Bool {
        func closed(_ expressions: Expression...) -> Bool { expressions.allSatisfy { isClosed($0, bound) } }
        switch expression {
        case .constant, .undefined: return true
        case .local(let slot): return bound.contains(slot)
        case .context, .newDate, .awaited, .newObjectID(nil): return false
        case .template(let pieces):
            return pieces.allSatisfy { if case .value(let value) = $0 { closed(value) } else { true } }
        case .array(let elements): return elements.allSatisfy { closed($0) }
        case .object(let members): return members.allSatisfy { closed($0.value) }
        case .chain(let base, let links):
            return closed(base) && links.allSatisfy { isClosed($0, bound) }
        case .newObjectID(let value?), .not(let value), .typeOf(let value): return closed(value)
        case .equals(let left, let right, _), .compare(_, let left, let right),
            .arithmetic(_, let left, let right), .and(let left, let right), .or(let left, let right),
            .unlessNullish(let left, let right):
            return closed(left, right)
        case .choice(let condition, let then, let otherwise): return closed(condition, then, otherwise)
        }
    }

    private func isClosed(_ link: StraightFunction.Link, _ bound: Set<Int>) -> Bool {
        switch link {
        case .member: true
        case .element(let expression): isClosed(expression, bound)
        case .call(_, let arguments, _, _): arguments.allSatisfy { isClosed($0, bound) }
        case .each(_, let callback, let start):
            (start.map { isClosed($0, bound) } ?? true)
                && isClosed(callback.body, bound.union(callback.parameters))
        }
    }
}
