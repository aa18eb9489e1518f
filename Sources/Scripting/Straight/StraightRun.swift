internal import BSON
internal import Foundation

/// What a run has got from outside so far: it begins anew with each answer that it reads on after, and comes to the same
/// place with it.
struct StraightRecord {
    /// To the calls that were made, in their order.
    var answers: [BSONValue] = []
    /// What `new Date()` said, in milliseconds, in their order.
    var times: [Int64] = []
}

/// Where a run is over, or stands.
enum StraightEnd {
    case over(RunEnd)
    /// It reads on after the answer to a call that changes nothing.
    case reads(LastHostCall)
}

/// One run of a ``StraightFunction``.
///
/// Each value is what the engine's would be, or the run is left to the engine: nothing has happened before its end, and
/// what it has read can be read once more.
struct StraightRun {
    private let call: ScriptCall
    private let bundle: ScriptBundle
    private let file: String
    private var record: StraightRecord
    var slots: [StraightValue]
    /// How many calls were made, and dates.
    private var (calls, dates) = (0, 0)
    /// The call that has no answer yet, and what there was of the log before it.
    private var pending: (answer: StraightAnswer, lines: Int, isAwaited: Bool)?
    /// Whether the run cannot go on without the answer to that.
    private var isStuck = false
    /// How many `try` there are around.
    private var tries = 0
    private var lines: [String] = []
    /// How many more bytes objects may be made of: what is named twice is there twice.
    private var room = 1 << 18
    /// How many more expressions are looked at: no other call waits for this one to be over.
    private var steps = 1 << 14

    /// Larger arguments, and larger answers that are read on after, are the engine's.
    static let argumentBytes = 1 << 16
    private static let answerBytes = 1 << 18
    /// More of the log, and longer lines of it, are the engine's to cut.
    private static let (mostLines, lineBytes) = (25, 512)

    /// What a run comes to; nil where only the engine can tell.
    static func end(
        of function: StraightFunction,
        named name: String,
        _ call: ScriptCall,
        of bundle: ScriptBundle,
        _ record: inout StraightRecord
    ) -> StraightEnd? {
        var run = StraightRun(
            call: call,
            bundle: bundle,
            file: ScriptStack.folder + name + ".js",
            record: record,
            slots: [StraightValue](repeating: .undefined, count: function.slots)
        )
        defer { record.times = run.record.times }
        if let end = try? run.perform(function) { return .over(end) }
        guard run.isStuck, let pending = run.pending, pending.answer.isRead else { return nil }
        return .reads(run.last(pending.answer))
    }

    private init(
        call: ScriptCall,
        bundle: ScriptBundle,
        file: String,
        record: StraightRecord,
        slots: [StraightValue]
    ) {
        self.call = call
        self.bundle = bundle
        self.file = file
        self.record = record
        self.slots = slots
    }

    private var isEndpoint: Bool { call.form == .endpoint }

    private mutating func perform(_ function: StraightFunction) throws(NotStraight) -> RunEnd {
        var arguments = call.arguments.map { StraightValue($0) }
        if isEndpoint { arguments = [arguments.first ?? .undefined, .opaque] }
        for (index, pattern) in function.parameters.enumerated() {
            try bind(pattern, to: index < arguments.count ? arguments[index] : .undefined)
        }
        let value = try run(function.body) ?? .undefined
        switch value {
        case .answer(let answer) where answer.value == nil: return .asks(last(answer))
        case .cursor(let cursor):
            // The runtime walks through it, not the function.
            guard !cursor.isWalked else { throw NotStraight() }
            let answer = try ask(cursor.call(), isRead: cursor.isRead, at: nil)
            return answer.value.map { .over(outcome($0)) } ?? .asks(last(answer))
        default:
            let outcome = outcome(try data(settled(value)))
            guard let pending else { return .over(outcome) }
            // Else it is not waited for.
            guard pending.isAwaited else { throw NotStraight() }
            return .asks(last(pending.answer, then: outcome))
        }
    }

    private func outcome(_ value: BSONValue, lines: Int? = nil) -> ScriptOutcome {
        ScriptOutcome(
            result: .success(value),
            response: isEndpoint ? ScriptOutcome.Response() : nil,
            messages: Array(self.lines.prefix(lines ?? self.lines.count))
        )
    }

    /// The pending call; `then` is what the run comes to whatever it is answered.
    private func last(_ answer: StraightAnswer, then: ScriptOutcome? = nil) -> LastHostCall {
        let stack = answer.place.map { "\(file):\($0.line):\($0.column)" }
        return LastHostCall(
            call: answer.call,
            stack: stack,
            rest: outcome(.undefined, lines: pending?.lines),
            then: then
        )
    }

    // MARK: Statements

    /// Nil when no statement returned.
    private mutating func run(_ statements: [StraightFunction.Statement]) throws(NotStraight)
        -> StraightValue?
    {
        for statement in statements {
            switch statement {
            case .bind(let pattern, let expression): try bind(pattern, to: value(of: expression))
            case .evaluate(let expression): _ = try value(of: expression)
            case .returns(let expression):
                guard let expression else { return .undefined }
                return try value(of: expression)
            case .choice(let condition, let then, let otherwise):
                let isTrue = try operand(condition).isTrue
                if let returned = try run(isTrue ? then : otherwise) { return returned }
            case .attempt(let body):
                tries += 1
                defer { tries -= 1 }
                if let returned = try run(body) { return returned }
            case .log(let expressions): try log(expressions)
            case .throwing: throw NotStraight()
            }
        }
        return nil
    }

    private mutating func bind(_ pattern: StraightFunction.Pattern, to value: StraightValue)
        throws(NotStraight)
    {
        switch pattern {
        case .slot(let slot): slots[slot] = value
        case .members(let members):
            let value = try settled(value)
            guard value.document != nil else { throw NotStraight() }
            for (name, slot) in members { slots[slot] = try value.member(name) }
        }
    }

    /// As `console.js` shows values.
    private mutating func log(_ expressions: [StraightFunction.Expression]) throws(NotStraight) {
        var shown: [String] = []
        for expression in expressions {
            switch try data(operand(expression)) {
            case .string(let text): shown.append(text)
            case .undefined: shown.append("undefined")
            case let value: shown.append(ExtendedJSON.relaxed(value))
            }
        }
        let line = shown.joined(separator: " ")
        guard line.utf8.count <= Self.lineBytes, lines.count < Self.mostLines else { throw NotStraight() }
        lines.append(line)
    }

    // MARK: Expressions

    /// The value of an expression that is looked at: what it waits for has come.
    mutating func operand(_ expression: StraightFunction.Expression) throws(NotStraight) -> StraightValue {
        try settled(value(of: expression))
    }

    private mutating func settled(_ value: StraightValue) throws(NotStraight) -> StraightValue {
        if case .answer(let answer) = value, answer.value == nil {
            isStuck = pending?.isAwaited ?? false
            throw NotStraight()
        }
        return value
    }

    /// The value of an expression that is handed on; it may be an answer that is still to come.
    private mutating func value(of expression: StraightFunction.Expression) throws(NotStraight)
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

    private mutating func ask(_ call: HostCall, isRead: Bool, at place: StraightFunction.Place?)
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
            guard BSONBinaryFormat.size(of: ["": record.answers[calls]]) <= Self.answerBytes else {
                throw NotStraight()
            }
        } else {
            pending = (answer, lines.count, isAwaited: false)
        }
        calls += 1
        return answer
    }

    // MARK: Data

    /// What an argument of a collection's method is; nil for `undefined`.
    private mutating func handedOn(_ argument: StraightValue) throws(NotStraight) -> BSONValue? {
        if case .undefined = argument { return nil }
        return try data(argument)
    }

    /// A value as it is handed on.
    mutating func data(_ value: StraightValue) throws(NotStraight) -> BSONValue {
        let data = try value.data()
        try make(BSONBinaryFormat.size(of: ["": data]))
        return data
    }

    private mutating func take(steps count: Int) throws(NotStraight) {
        steps -= count
        if steps < 0 { throw NotStraight() }
    }

    mutating func make(_ bytes: Int) throws(NotStraight) {
        room -= bytes
        if room < 0 { throw NotStraight() }
    }
}

/// The answer to a call of a straight function.
struct StraightAnswer {
    let call: HostCall
    /// Where the function asked; nil for a cursor that it returned.
    let place: StraightFunction.Place?
    /// Whether the call changes nothing.
    let isRead: Bool
    /// Nil as long as it was not asked for.
    var value: BSONValue?
}
