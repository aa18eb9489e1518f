internal import BSON

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
    let call: ScriptCall
    let bundle: ScriptBundle
    private let file: String
    /// More of the log, longer lines of it and a larger result are the engine's to cut or to refuse.
    private let limits: ScriptLimits
    var record: StraightRecord
    var slots: [StraightValue]
    /// How many calls were made, and dates.
    var (calls, dates) = (0, 0)
    /// The call that has no answer yet, and what there was of the log before it.
    var pending: (answer: StraightAnswer, lines: Int, isAwaited: Bool)?
    /// Whether the run cannot go on without the answer to that.
    var isStuck = false
    /// How many `try` there are around.
    var tries = 0
    var lines: [String] = []
    /// How many more bytes objects may be made of: what is named twice is there twice.
    private var room = 1 << 18
    /// How many more expressions are looked at: no other call waits for this one to be over.
    var steps = 1 << 14

    /// Larger arguments, and larger answers that are read on after, are the engine's.
    static let argumentBytes = 1 << 16
    static let answerBytes = 1 << 18

    /// What a run comes to; nil where only the engine can tell.
    static func end(
        of function: StraightFunction,
        named name: String,
        _ call: ScriptCall,
        of bundle: ScriptBundle,
        within limits: ScriptLimits,
        _ record: inout StraightRecord
    ) -> StraightEnd? {
        var run = StraightRun(
            call: call,
            bundle: bundle,
            file: ScriptStack.folder + name + ".js",
            limits: limits,
            record: record,
            slots: [StraightValue](repeating: .undefined, count: function.slots)
        )
        defer { record.times = run.record.times }
        if let end = try? run.perform(function) { return .over(end) }
        guard run.isStuck, let pending = run.pending, pending.answer.isRead else { return nil }
        return .reads(run.last(pending.answer))
    }

    /// A run of an expression that names nothing of a call.
    static func closed(slots: Int, steps: Int, room: Int) -> StraightRun {
        var run = StraightRun(
            call: ScriptCall(
                entry: .source(""),
                arguments: [],
                user: [:],
                runsAsSystem: false,
                deadline: .now
            ),
            bundle: ScriptBundle(app: "", version: 0, functions: [:]),
            file: "",
            limits: ScriptLimits(),
            record: StraightRecord(),
            slots: [StraightValue](repeating: .undefined, count: slots)
        )
        (run.steps, run.room) = (steps, room)
        return run
    }

    private init(
        call: ScriptCall,
        bundle: ScriptBundle,
        file: String,
        limits: ScriptLimits,
        record: StraightRecord,
        slots: [StraightValue]
    ) {
        self.call = call
        self.bundle = bundle
        self.file = file
        self.limits = limits
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
            return .asks(last(answer))
        default:
            let data = try settled(value).data()
            let size = BSONBinaryFormat.size(of: data)
            try make(size)
            guard size <= limits.responseBytes else { throw NotStraight() }
            let outcome = outcome(data)
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
        guard line.utf8.count <= limits.logLineBytes, lines.count < limits.logLines else {
            throw NotStraight()
        }
        lines.append(line)
    }

    /// What an argument of a collection's method is; nil for `undefined`.
    mutating func handedOn(_ argument: StraightValue) throws(NotStraight) -> BSONValue? {
        if case .undefined = argument { return nil }
        return try data(argument)
    }

    /// A value as it is handed on.
    mutating func data(_ value: StraightValue) throws(NotStraight) -> BSONValue {
        let data = try value.data()
        try make(BSONBinaryFormat.size(of: data))
        return data
    }

    mutating func take(steps count: Int) throws(NotStraight) {
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
