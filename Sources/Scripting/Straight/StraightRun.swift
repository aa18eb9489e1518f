internal import BSON
internal import Foundation

/// One run of a ``StraightFunction``.
///
/// Each value is what the engine's would be, or the run is left to the engine: nothing has happened before its end.
struct StraightRun {
    private let call: ScriptCall
    private let bundle: ScriptBundle
    private let file: String
    private var slots: [StraightValue]
    /// The one call of the data that is made.
    private var asked: StraightAnswer?
    /// How many more bytes objects may be made of: what is named twice is there twice.
    private var room = 1 << 18

    /// Larger arguments are the engine's.
    static let argumentBytes = 1 << 16

    /// What a run comes to; nil where only the engine can tell.
    static func end(
        of function: StraightFunction,
        named name: String,
        _ call: ScriptCall,
        of bundle: ScriptBundle
    ) -> RunEnd? {
        let slots = [StraightValue](repeating: .undefined, count: function.slots)
        var run = StraightRun(
            call: call,
            bundle: bundle,
            file: ScriptStack.folder + name + ".js",
            slots: slots
        )
        return try? run.perform(function)
    }

    private init(call: ScriptCall, bundle: ScriptBundle, file: String, slots: [StraightValue]) {
        self.call = call
        self.bundle = bundle
        self.file = file
        self.slots = slots
    }

    private mutating func perform(_ function: StraightFunction) throws(NotStraight) -> RunEnd {
        let isEndpoint = call.form == .endpoint
        var arguments = call.arguments.map { StraightValue($0) }
        if isEndpoint { arguments = [arguments.first ?? .undefined, .opaque] }
        for (index, pattern) in function.parameters.enumerated() {
            try bind(pattern, to: index < arguments.count ? arguments[index] : .undefined)
        }
        let value = try run(function.body) ?? .undefined
        let response = isEndpoint ? ScriptOutcome.Response() : nil
        if let answer = try answer(returned: value) {
            let stack = answer.place.map { "\(file):\($0.line):\($0.column)" }
            return .asks(LastHostCall(call: answer.call, stack: stack, response: response))
        }
        return .over(ScriptOutcome(result: .success(try data(value)), response: response))
    }

    /// What the run returns the answer to; nil when it has asked for nothing.
    private mutating func answer(returned value: StraightValue) throws(NotStraight) -> StraightAnswer? {
        switch value {
        case .answer(let answer): return answer
        case .cursor(let cursor):
            // The runtime walks through it, not the function.
            try ask(cursor.call(), at: nil)
            return asked
        default:
            if asked != nil { throw NotStraight() }
            return nil
        }
    }

    // MARK: Statements

    /// Nil when no statement returned.
    private mutating func run(_ statements: [StraightFunction.Statement]) throws(NotStraight)
        -> StraightValue?
    {
        for statement in statements {
            switch statement {
            case .bind(let pattern, let expression): try bind(pattern, to: value(of: expression))
            case .returns(let expression):
                guard let expression else { return .undefined }
                return try value(of: expression)
            case .choice(let condition, let then, let otherwise):
                let isTrue = try value(of: condition).isTrue
                if let returned = try run(isTrue ? then : otherwise) { return returned }
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
            guard value.document != nil else { throw NotStraight() }
            for (name, slot) in members { slots[slot] = try value.member(name) }
        }
    }

    // MARK: Expressions

    private mutating func value(of expression: StraightFunction.Expression) throws(NotStraight)
        -> StraightValue
    {
        switch expression {
        case .constant(let constant): return .made(constant)
        case .undefined: return .undefined
        case .local(let slot): return slots[slot]
        case .context: return .context
        case .template(let pieces): return .made(.string(try text(of: pieces)))
        case .array(let elements):
            var made: [BSONValue] = []
            made.reserveCapacity(elements.count)
            for element in elements { made.append(try data(value(of: element))) }
            return .made(.array(made))
        case .object(let members):
            var made = BSONDocument()
            for (key, member) in members { made.append(key, try data(value(of: member))) }
            return .made(.document(made))
        case .chain(let base, let links): return try follow(links, from: value(of: base))
        case .newObjectID(let expression):
            guard let expression, case .string(let text) = try value(of: expression).scalar,
                let id = ObjectID(hex: text)
            else { throw NotStraight() }
            return .made(.objectID(id))
        case .newDate: return .made(.date(Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))))
        case .awaited(let expression):
            switch try value(of: expression) {
            case .answer(let answer): return .answer(answer)
            case .cursor(let cursor): return .cursor(cursor)
            default: throw NotStraight()
            }
        case .not(let expression): return .made(.bool(try !value(of: expression).isTrue))
        case .equals(let left, let right, let isStrict):
            let (left, right) = (try value(of: left), try value(of: right))
            return .made(.bool(try isStrict ? left.isSame(as: right) : left.isLike(right)))
        case .and(let left, let right):
            let left = try value(of: left)
            return try left.isTrue ? value(of: right) : left
        case .or(let left, let right):
            let left = try value(of: left)
            return try left.isTrue ? left : value(of: right)
        case .unlessNullish(let left, let right):
            let left = try value(of: left)
            return try left.isNullish ? value(of: right) : left
        case .choice(let condition, let then, let otherwise):
            return try value(of: value(of: condition).isTrue ? then : otherwise)
        }
    }

    private mutating func text(of pieces: [StraightFunction.Piece]) throws(NotStraight) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let piece): text += piece
            case .value(let expression): text += try value(of: expression).text()
            }
            try make(text.utf8.count)
        }
        return text
    }

    private mutating func follow(
        _ links: [StraightFunction.Link],
        from base: StraightValue
    ) throws(NotStraight) -> StraightValue {
        var current = base
        for link in links {
            switch link {
            case .member(let name, let isOptional):
                if isOptional, try current.isNullish { return .undefined }
                current = try member(name, of: current)
            case .element(let expression): current = try current.element(value(of: expression))
            case .call(let name, let expressions, let isOptional, let place):
                if isOptional, try current.isNullish { return .undefined }
                var arguments: [StraightValue] = []
                for expression in expressions { arguments.append(try value(of: expression)) }
                current = try call(name, arguments, of: current, at: place)
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
            return .answer(try ask(data.call(passed), at: place))
        case (.cursor(let cursor), "toArray"): return .answer(try ask(cursor.call(), at: place))
        case (.cursor(let cursor), _):
            // One that was walked through says no.
            guard asked == nil, let argument = arguments.first else { throw NotStraight() }
            try cursor.change(name, data(argument))
            return value
        default: return try value.call(name)
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

    @discardableResult
    private mutating func ask(_ call: HostCall, at place: StraightFunction.Place?) throws(NotStraight)
        -> StraightAnswer
    {
        guard asked == nil else { throw NotStraight() }
        let answer = StraightAnswer(call: call, place: place)
        asked = answer
        return answer
    }

    // MARK: Data

    /// What an argument of a collection's method is; nil for `undefined`.
    private mutating func handedOn(_ argument: StraightValue) throws(NotStraight) -> BSONValue? {
        if case .undefined = argument { return nil }
        return try data(argument)
    }

    /// A value as it is handed on.
    private mutating func data(_ value: StraightValue) throws(NotStraight) -> BSONValue {
        let data = try value.data()
        try make(BSONBinaryFormat.size(of: ["": data]))
        return data
    }

    private mutating func make(_ bytes: Int) throws(NotStraight) {
        room -= bytes
        if room < 0 { throw NotStraight() }
    }
}

/// What a straight function returns the answer to.
struct StraightAnswer {
    let call: HostCall
    /// Where the function asked; nil for a cursor that it returned.
    let place: StraightFunction.Place?
}
