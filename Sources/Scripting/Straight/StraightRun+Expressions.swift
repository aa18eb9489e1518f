internal import BSON
internal import Foundation

/// What expressions come to, and what they ask for on the way.
extension StraightRun {
    /// The value of an expression that is looked at: what it waits for has come.
    mutating func operand(_ expression: StraightFunction.Expression) throws(NotStraight) -> StraightValue {
        try settled(value(of: expression))
    }

    mutating func settled(_ value: StraightValue) throws(NotStraight) -> StraightValue {
        if case .answer(let answer) = value, answer.value == nil {
            isStuck = pending?.isAwaited ?? false
            throw NotStraight()
        }
        return value
    }

    /// The value of an expression that is handed on; it may be an answer that is still to come.
    mutating func value(of expression: StraightFunction.Expression) throws(NotStraight)
        -> StraightValue
    {
        try take(steps: 1)
        switch expression {
        case .constant(let constant): return .made(constant)
        case .undefined: return .undefined
        case .local(let slot): return slots[slot]
        case .context: return .context
        case .template(let pieces): return .made(.string(try text(of: pieces)))
        case .array(let elements):
            var made: [BSONValue] = []
            made.reserveCapacity(elements.count)
            for element in elements { made.append(try data(operand(element))) }
            return .made(.array(made))
        case .object(let members):
            var made = BSONDocument()
            for (key, member) in members { made.append(key, try data(operand(member))) }
            return .made(.document(made))
        case .chain(let base, let links): return try follow(links, from: base)
        case .newObjectID(let expression):
            guard let expression, case .string(let text) = try operand(expression).scalar,
                let id = ObjectID(hex: text)
            else { throw NotStraight() }
            return .made(.objectID(id))
        case .newDate: return .made(.date(now()))
        case .awaited(let expression): return try awaited(value(of: expression))
        case .not(let expression): return .made(.bool(try !operand(expression).isTrue))
        case .typeOf(let expression): return .made(.string(try operand(expression).type()))
        case .equals(let left, let right, let isStrict):
            let (left, right) = (try operand(left), try operand(right))
            return .made(.bool(try isStrict ? left.isSame(as: right) : left.isLike(right)))
        case .compare(let comparison, let left, let right):
            let (left, right) = (try operand(left), try operand(right))
            return .made(.bool(try left.compared(comparison, right)))
        case .arithmetic(let sign, let left, let right):
            let (left, right) = (try operand(left), try operand(right))
            let result = try left.combined(sign, right)
            if case .made(.string(let text)) = result { try make(text.utf8.count) }
            return result
        case .and(let left, let right):
            let left = try operand(left)
            return try left.isTrue ? value(of: right) : left
        case .or(let left, let right):
            let left = try operand(left)
            return try left.isTrue ? left : value(of: right)
        case .unlessNullish(let left, let right):
            let left = try operand(left)
            return try left.isNullish ? value(of: right) : left
        case .choice(let condition, let then, let otherwise):
            return try value(of: operand(condition).isTrue ? then : otherwise)
        }
    }

    private mutating func text(of pieces: [StraightFunction.Piece]) throws(NotStraight) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let piece): text += piece
            case .value(let expression): text += try operand(expression).text()
            }
            try make(text.utf8.count)
        }
        return text
    }

    private mutating func awaited(_ value: StraightValue) throws(NotStraight) -> StraightValue {
        switch value {
        case .answer(let answer):
            if let value = answer.value { return StraightValue(value) }
            pending?.isAwaited = true
            // A failure of it would be caught.
            isStuck = tries > 0
            if isStuck { throw NotStraight() }
            return value
        case .cursor: return value
        default: throw NotStraight()
        }
    }

    private mutating func now() -> Int64 {
        defer { dates += 1 }
        if dates == record.times.count {
            record.times.append(Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
        }
        return record.times[dates]
    }

    private mutating func follow(
        _ links: [StraightFunction.Link],
        from base: StraightFunction.Expression
    ) throws(NotStraight) -> StraightValue {
        var current = try operand(base)
        for link in links {
            switch link {
            case .member(let name, let isOptional):
                if isOptional, try current.isNullish { return .undefined }
                current = try member(name, of: current)
            case .element(let expression): current = try current.element(operand(expression))
            case .call(let name, let expressions, let isOptional, let place):
                if isOptional, try current.isNullish { return .undefined }
                var arguments: [StraightValue] = []
                for expression in expressions { arguments.append(try operand(expression)) }
                current = try call(name, arguments, of: current, at: place)
            case .each(let walk, let callback, let start):
                var first: StraightValue?
                if let start { first = try operand(start) }
                current = try each(walk, callback, from: first, of: current)
            }
        }
        return current
    }

    private func member(_ name: String, of value: StraightValue) throws(NotStraight) -> StraightValue {
        guard case .context = value else { return try value.member(name) }
        switch name {
        case "user": return .given(.document(call.user))
        case "request": return call.request().map { .given(.document($0)) } ?? .undefined
        case "app": return .given(.document(bundle.appFacts))
        case "environment": return .given(.document(bundle.environment))
        case "services": return .services
        case "values": return .values
        default: throw NotStraight()
        }
    }

    private mutating func call(
        _ name: String,
        _ arguments: [StraightValue],
        of value: StraightValue,
        at place: StraightFunction.Place
    ) throws(NotStraight) -> StraightValue {
        switch (value, name) {
        case (.context, "runningAsSystem"): return .made(.bool(call.runsAsSystem))
        case (.services, "get"):
            let name = try Self.name(arguments)
            guard let kind = bundle.services[name] else { return .undefined }
            guard kind != "http" else { throw NotStraight() }
            return .service(name)
        case (.values, "get"):
            return bundle.values[try Self.name(arguments)].map { StraightValue($0) } ?? .undefined
        case (.service(let service), "db"): return .database(service, try Self.name(arguments))
        case (.database(let service, let database), "collection"):
            return .collection(service, database, try Self.name(arguments))
        case (.collection(let service, let database, let collection), _):
            let data = CollectionCall(service, database, collection, name)
            var passed: [BSONValue?] = []
            for argument in arguments { passed.append(try handedOn(argument)) }
            if let cursor = try data.cursor(passed) { return .cursor(cursor) }
            return .answer(try ask(data.call(passed), isRead: data.isRead, at: place))
        case (.cursor(let cursor), "toArray"):
            // One that was walked through has nothing more.
            guard !cursor.isWalked else { throw NotStraight() }
            let answer = try ask(cursor.call(), isRead: cursor.isRead, at: place)
            cursor.isWalked = true
            return .answer(answer)
        case (.cursor(let cursor), _):
            // One that was walked through says no.
            guard !cursor.isWalked, let argument = arguments.first else { throw NotStraight() }
            try cursor.change(name, data(argument))
            return value
        default:
            try take(steps: value.steps)
            return try value.call(name, arguments)
        }
    }

    /// The first argument, a text that is a name in the engine and here.
    private static func name(_ arguments: [StraightValue]) throws(NotStraight) -> String {
        guard case .string(let name)? = try arguments.first?.scalar, name.utf8.allSatisfy({ $0 < 0x80 })
        else {
            throw NotStraight()
        }
        return name
    }

    mutating func ask(_ call: HostCall, isRead: Bool, at place: StraightFunction.Place?)
        throws(NotStraight) -> StraightAnswer
    {
        if let pending {
            // It waits for that one first, or for two at once.
            isStuck = pending.isAwaited
            throw NotStraight()
        }
        var answer = StraightAnswer(call: call, place: place, isRead: isRead)
        if calls < record.answers.count {
            answer.value = record.answers[calls]
            guard BSONBinaryFormat.size(of: record.answers[calls]) <= Self.answerBytes else {
                throw NotStraight()
            }
        } else {
            pending = (answer, lines.count, isAwaited: false)
        }
        calls += 1
        return answer
    }
}
