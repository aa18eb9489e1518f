public import BSON
public import MQL

/// Which fields queries may name.
///
/// Source: `sync-semantics.md` §1.3.
public struct QueryableFields: Sendable, Hashable {
    /// By class, beside `_id`; nil in development mode, where every field is queryable that can be.
    public var byClass: [ByteText: Set<ByteText>]?
    /// The field that every query must compare with a constant.
    public var indexed: ByteText?

    /// Made of its parts.
    public init(byClass: [ByteText: Set<ByteText>]?, indexed: ByteText? = nil) {
        self.byClass = byClass
        self.indexed = indexed
    }
}

/// What a device subscribes to in one class.
public struct SubscribedQuery: Sendable, Hashable {
    /// As it was sent.
    public let text: String
    /// Which documents it accepts.
    public let filter: Filter
    /// The fields that it names, `_id` included.
    public let fields: Set<ByteText>
}

/// Reads the queries of a device's subscriptions.
///
/// Source: `sync-semantics.md` §2, `realm-sync-protocol.md` §3.3.
public struct SubscriptionReader: Sendable {
    /// The longest query of a class, in bytes.
    public static let queryLimit = 256 * 1024

    private let schema: SyncSchema
    private let queryable: QueryableFields

    /// For the classes of an app and the fields that it lets be asked for.
    public init(schema: SyncSchema, queryable: QueryableFields) {
        self.schema = schema
        self.queryable = queryable
    }

    /// The queries of a QUERY or IDENT message, by class.
    ///
    /// - Parameter body: `{"Class": "query", …}`.
    /// - Returns: One query for each class that is named.
    /// - Throws: ``SyncFault`` with `badQuery`, naming the class and what is wrong.
    public func read(_ body: String) throws(SyncFault) -> [ByteText: SubscribedQuery] {
        let document: BSONDocument
        do {
            document = try ExtendedJSON.document(body)
        } catch {
            throw Self.fault("the subscriptions are not a JSON object")
        }
        var queries: [ByteText: SubscribedQuery] = [:]
        for field in document {
            guard case .string(let text) = field.value else {
                throw Self.fault("the query for table \"\(field.key)\" is not a string")
            }
            let name = ByteText(field.key)
            queries[name] = try query(text, of: name)
        }
        return queries
    }

    /// One query on one class.
    ///
    /// - Throws: ``SyncFault`` with `badQuery`.
    public func query(_ text: String, of name: ByteText) throws(SyncFault) -> SubscribedQuery {
        guard text.utf8.count <= Self.queryLimit else {
            throw Self.unsupported(name, "a query has at most \(Self.queryLimit / 1024) kB")
        }
        guard let type = schema[name] else {
            throw Self.unsupported(name, "the table is not in the app's schema")
        }
        if type.isEmbedded {
            throw Self.unsupported(name, "objects of an embedded table come with their parents")
        }
        if type.isAsymmetric { throw Self.unsupported(name, "an asymmetric table cannot be queried") }
        do throws(RQLFault) {
            let syntax = try RQLParser.parse(text)
            let fields = queryable.byClass.map { $0[name] ?? [] }
            var compiler = RQLCompiler(schema: schema, type: type, queryable: fields)
            let filter = try compiler.filter(syntax)
            if let indexed = queryable.indexed, !syntax.names(indexed) {
                throw RQLFault(
                    "the indexed queryable field \(quoted(indexed)) must be compared with a constant by == or IN, joined by AND"
                )
            }
            return SubscribedQuery(text: text, filter: filter, fields: compiler.fields)
        } catch {
            throw Self.unsupported(name, error.message)
        }
    }

    private static func unsupported(_ name: ByteText, _ problem: String) -> SyncFault {
        fault("unsupported query for table \(quoted(name)): \(problem)")
    }

    private static func fault(_ problem: String) -> SyncFault {
        SyncFault(.badQuery, "Client provided query with bad syntax: \(problem)")
    }
}

extension RQLSyntax {
    /// Whether the condition holds only for some values of the indexed field: each alternative must say which.
    func names(_ field: ByteText) -> Bool {
        func isField(_ operand: RQLOperand) -> Bool {
            if case .property(let path, nil, false) = operand, path.count == 1 {
                ByteText(path[0]) == field
            } else {
                false
            }
        }
        switch self {
        case .and(let members): return members.contains { $0.names(field) }
        case .or(let members): return members.allSatisfy { $0.names(field) }
        case .compare(let left, .equal, .literal, ignoresCase: false): return isField(left)
        case .compare(.literal, .equal, let right, ignoresCase: false): return isField(right)
        case .compare(let left, .equal, .list(_, let quantifier), ignoresCase: false):
            return quantifier ?? .any == .any && isField(left)
        case .inside(let left, .list, ignoresCase: false): return isField(left)
        default: return false
        }
    }
}
