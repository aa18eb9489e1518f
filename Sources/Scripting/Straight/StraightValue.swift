internal import BSON

/// A value in the run of a straight function.
enum StraightValue {
    case undefined
    /// As it came, from outside of the function.
    case given(BSONValue)
    /// As the engine hands it on.
    case made(BSONValue)
    case context
    case services
    case values
    case service(String)
    case database(_ service: String, String)
    case collection(_ service: String, _ database: String, String)
    case cursor(StraightCursor)
    /// Of the call that the function has made.
    case answer(StraightAnswer)
    /// An endpoint's response.
    case opaque

    init(_ value: BSONValue) {
        self = if case .undefined = value { .undefined } else { .given(value) }
    }

    /// As it is handed on.
    func data() throws(NotStraight) -> BSONValue {
        switch self {
        case .undefined: return .undefined
        case .made(let value): return value
        case .given(let value):
            guard let returned = value.asReturned, !Self.hasZeroInKey(returned) else { throw NotStraight() }
            return returned
        default: throw NotStraight()
        }
    }

    /// What cannot be sent in the engine either, which has words for it.
    private static func hasZeroInKey(_ value: BSONValue) -> Bool {
        switch value {
        case .document(let document):
            document.fields.contains { $0.key.utf8.contains(0) || hasZeroInKey($0.value) }
        case .array(let elements): elements.contains(where: hasZeroInKey)
        default: false
        }
    }

    // MARK: Members

    var document: BSONDocument? {
        switch self {
        case .given(let value), .made(let value): value.document
        default: nil
        }
    }

    var array: [BSONValue]? {
        switch self {
        case .given(let value), .made(let value): value.array
        default: nil
        }
    }

    /// A part of this one, which is as the whole is.
    func part(_ value: BSONValue) -> StraightValue {
        if case .undefined = value { return .undefined }
        return if case .made = self { .made(value) } else { .given(value) }
    }

    /// The members of every object.
    private static let inherited: Set<String> = [
        "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
        "constructor",
        "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
    ]

    func member(_ name: String) throws(NotStraight) -> StraightValue {
        if let document {
            if Self.inherited.contains(name) { throw NotStraight() }
            return document[name].map { part($0) } ?? .undefined
        }
        guard name == "length" else { throw NotStraight() }
        if let array { return .made(.int32(Int32(clamping: array.count))) }
        guard case .string(let text) = try scalar else { throw NotStraight() }
        return .made(.int32(Int32(clamping: text.utf16.count)))
    }

    func element(_ index: StraightValue) throws(NotStraight) -> StraightValue {
        switch try index.scalar {
        case .string(let name):
            guard document != nil else { throw NotStraight() }
            return try member(name)
        case .number(let number):
            guard let array, let index = Int(exactly: number), array.indices.contains(index) else {
                throw NotStraight()
            }
            return part(array[index])
        default: throw NotStraight()
        }
    }

    // MARK: Comparisons

    /// What can be compared.
    enum Scalar {
        case undefined
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        /// Compared by which it is.
        case object
    }

    var scalar: Scalar {
        get throws(NotStraight) {
            switch self {
            case .undefined: return .undefined
            case .given(let value):
                // A `Long` of the engine.
                if case .int64 = value { return .object }
                return try Self.scalar(of: value)
            case .made(let value):
                // A number of the engine's beyond 32 bits, or a `Long` that was given.
                if case .int64 = value { throw NotStraight() }
                return try Self.scalar(of: value)
            case .context, .services, .values, .service, .database, .collection: return .object
            case .cursor, .answer, .opaque: throw NotStraight()
            }
        }
    }

    private static func scalar(of value: BSONValue) throws(NotStraight) -> Scalar {
        switch value {
        case .undefined: .undefined
        case .null: .null
        case .bool(let bool): .bool(bool)
        case .int32(let number): .number(Double(number))
        case .double(let number): .number(number)
        case .string(let text), .symbol(let text): .string(text)
        default: .object
        }
    }

    var isTrue: Bool {
        get throws(NotStraight) {
            switch try scalar {
            case .undefined, .null: false
            case .bool(let bool): bool
            case .number(let number): number != 0 && !number.isNaN
            case .string(let text): !text.isEmpty
            case .object: true
            }
        }
    }

    var isNullish: Bool {
        get throws(NotStraight) {
            switch try scalar {
            case .undefined, .null: true
            default: false
            }
        }
    }

    /// What a template shows.
    func text() throws(NotStraight) -> String {
        switch self {
        case .undefined: return "undefined"
        case .given(.objectID(let id)), .made(.objectID(let id)): return id.hex
        default: break
        }
        switch try scalar {
        case .null: return "null"
        case .bool(let bool): return bool ? "true" : "false"
        case .string(let text): return text
        case .number(let number):
            guard let whole = Int32(exactly: number) else { throw NotStraight() }
            return String(whole)
        case .undefined, .object: throw NotStraight()
        }
    }
}
