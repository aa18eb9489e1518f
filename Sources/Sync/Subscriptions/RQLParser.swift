import BSON

/// Reads a query's text by recursive descent: each token is looked at once.
struct RQLParser {
    /// How deep parentheses and negations may nest.
    static let depthLimit = 100

    private let tokens: [(token: RQLToken, place: Int)]
    private var index = 0

    /// The whole text as one condition.
    static func parse(_ text: String) throws(RQLFault) -> RQLSyntax {
        var parser = RQLParser(tokens: try RQLScanner.tokens(text))
        let query = try parser.disjunction(depth: 0)
        if let (token, place) = parser.index < parser.tokens.count ? parser.tokens[parser.index] : nil {
            if case .keyword(let keyword, _) = token {
                switch keyword {
                case .sort, .distinct, .limit:
                    throw RQLFault("\(keyword.rawValue) is not supported in subscriptions")
                default: break
                }
            }
            throw RQLFault("unexpected text at byte \(place)")
        }
        return query
    }

    private init(tokens: [(token: RQLToken, place: Int)]) {
        self.tokens = tokens
    }

    private var current: RQLToken? { index < tokens.count ? tokens[index].token : nil }
    private var following: RQLToken? { index + 1 < tokens.count ? tokens[index + 1].token : nil }

    private mutating func take(_ token: RQLToken) -> Bool {
        guard current == token else { return false }
        index += 1
        return true
    }

    private mutating func takes(_ keyword: RQLToken.Keyword) -> Bool {
        guard case .keyword(keyword, _)? = current else { return false }
        index += 1
        return true
    }

    private mutating func take(sign: Character) -> Bool {
        take(.sign(sign.asciiValue ?? 0))
    }

    private func fault() -> RQLFault {
        guard index < tokens.count else { return RQLFault("the query ends too soon") }
        return RQLFault("unexpected text at byte \(tokens[index].place)")
    }

    private mutating func expect(_ sign: Character) throws(RQLFault) {
        guard take(sign: sign) else { throw fault() }
    }

    private mutating func disjunction(depth: Int) throws(RQLFault) -> RQLSyntax {
        var members = [try conjunction(depth: depth)]
        while takes(.or) { members.append(try conjunction(depth: depth)) }
        return members.count == 1 ? members[0] : .or(members)
    }

    private mutating func conjunction(depth: Int) throws(RQLFault) -> RQLSyntax {
        var members = [try negation(depth: depth)]
        while takes(.and) { members.append(try negation(depth: depth)) }
        return members.count == 1 ? members[0] : .and(members)
    }

    private mutating func negation(depth: Int) throws(RQLFault) -> RQLSyntax {
        guard depth < Self.depthLimit else {
            throw RQLFault("conditions nest at most \(Self.depthLimit) levels")
        }
        if takes(.not) { return .not(try negation(depth: depth + 1)) }
        if takes(.truePredicate) { return .constant(true) }
        if takes(.falsePredicate) { return .constant(false) }
        if take(sign: "(") {
            let inner = try disjunction(depth: depth + 1)
            try expect(")")
            return inner
        }
        return try comparison()
    }

    private mutating func comparison() throws(RQLFault) -> RQLSyntax {
        let left = try operand()
        switch current {
        case .comparison(let comparison)?:
            index += 1
            let ignoresCase = take(.ignoringCase)
            return .compare(left, comparison, try operand(), ignoresCase: ignoresCase)
        case .keyword(.inside, _)?:
            index += 1
            let ignoresCase = take(.ignoringCase)
            return .inside(left, try operand(), ignoresCase: ignoresCase)
        case .keyword(.between, _)?:
            index += 1
            guard case .list(let bounds, nil) = try operand() else { throw RQLFault("BETWEEN needs a list") }
            guard bounds.count == 2 else { throw RQLFault("BETWEEN needs a list of 2 values") }
            return .between(left, bounds)
        case .keyword(.text, _)?: throw RQLFault("TEXT is not supported in subscriptions")
        case .keyword(.geoWithin, _)?: throw RQLFault("GEOWITHIN is not supported in subscriptions")
        case .keyword(let keyword, _)?:
            guard let test = RQLTextTest(rawValue: keyword.rawValue) else { throw fault() }
            index += 1
            let ignoresCase = take(.ignoringCase)
            return .text(left, test, try operand(), ignoresCase: ignoresCase)
        case .sign(UInt8(ascii: "+"))?, .sign(UInt8(ascii: "-"))?, .sign(UInt8(ascii: "*"))?,
            .sign(UInt8(ascii: "/"))?:
            throw RQLFault("arithmetic is not supported in subscriptions")
        default: throw fault()
        }
    }

    private mutating func quantifier() -> RQLQuantifier? {
        if takes(.any) { return .any }
        if takes(.all) { return .all }
        if takes(.none) { return RQLQuantifier.none }
        return nil
    }

    private mutating func operand() throws(RQLFault) -> RQLOperand {
        let quantifier = quantifier()
        if take(sign: "{") { return .list(try list(), quantifier: quantifier) }
        if let name = propertyName() { return try property(name, quantifier) }
        guard quantifier == nil else { throw fault() }
        if case .keyword(.subquery, _)? = current {
            throw RQLFault("SUBQUERY is not supported in subscriptions")
        }
        return .literal(try literal())
    }

    /// A name, or a keyword that may be one where a value stands.
    private mutating func propertyName() -> String? {
        switch current {
        case .name(let name)?:
            index += 1
            return name
        case .keyword(let keyword, let text)? where keyword.isName:
            if keyword == .binary, following == .sign(UInt8(ascii: "(")) { return nil }
            index += 1
            return text
        case .function("@links")?:
            index += 1
            return "@links"
        default: return nil
        }
    }

    private mutating func property(_ name: String, _ quantifier: RQLQuantifier?) throws(RQLFault)
        -> RQLOperand
    {
        var path = [name]
        while true {
            if take(sign: ".") {
                if case .function(let function)? = current, function != "@links" {
                    index += 1
                    guard function == "@count" || function == "@size" else {
                        throw RQLFault("\(function) is not supported in subscriptions")
                    }
                    return .property(path: path, quantifier: quantifier, isCount: true)
                }
                guard let next = propertyName() else { throw fault() }
                path.append(next)
            } else if current == .sign(UInt8(ascii: "[")) {
                throw RQLFault("elements by index or key are not supported in subscriptions")
            } else {
                return .property(path: path, quantifier: quantifier, isCount: false)
            }
        }
    }

    private mutating func list() throws(RQLFault) -> [RQLLiteral] {
        var literals: [RQLLiteral] = []
        if take(sign: "}") { return literals }
        repeat { literals.append(try literal()) } while take(sign: ",")
        try expect("}")
        return literals
    }

    private mutating func literal() throws(RQLFault) -> RQLLiteral {
        guard let token = current else { throw fault() }
        let start = index
        index += 1
        switch token {
        case .number(let text): return .number(text)
        case .string(let text): return .string(text)
        case .binaryText(let bytes):
            // A text that the client could not write plainly.
            guard let text = String(validating: bytes, as: UTF8.self) else { return .binary(bytes) }
            return .string(text)
        case .date(let time): return .date(time)
        case .objectID(let id): return .objectID(id)
        case .uuid(let uuid): return .uuid(uuid)
        case .keyword(.yes, _): return .bool(true)
        case .keyword(.no, _): return .bool(false)
        case .keyword(.null, _): return .null
        case .keyword(.infinity, _): return .number("Infinity")
        case .keyword(.notANumber, _): return .number("NaN")
        case .keyword(.binary, _): return try binary()
        case .keyword(.object, _): return try object()
        case .argument(let name): throw RQLFault("the value of \(name) is missing")
        case .function(let function): throw RQLFault("\(function) is not supported in subscriptions")
        default:
            index = start
            throw fault()
        }
    }

    private mutating func binary() throws(RQLFault) -> RQLLiteral {
        try expect("(")
        let bytes: [UInt8]
        switch current {
        case .string(let text)?: bytes = Array(text.utf8)
        case .binaryText(let decoded)?: bytes = decoded
        default: throw fault()
        }
        index += 1
        try expect(")")
        return .binary(bytes)
    }

    private mutating func object() throws(RQLFault) -> RQLLiteral {
        try expect("(")
        guard case .string(let table)? = current else { throw fault() }
        index += 1
        try expect(",")
        let key: RQLLiteral
        switch current {
        case .number?, .string?, .uuid?, .objectID?, .binaryText?: key = try literal()
        default: throw fault()
        }
        try expect(")")
        return .object(table: table, key: key)
    }
}
