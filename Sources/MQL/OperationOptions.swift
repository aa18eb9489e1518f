public import BSON
public import Errors

/// What holds for a whole operation, whichever it is.
public struct OperationOptions: Sendable {
    /// `let`: what expressions know beside the document, in order.
    let variables: [NamedExpression]
    /// `maxTimeMS`: milliseconds that the operation may take; nil leaves it to the gateway.
    public let timeLimit: Int?
    /// The index that the request names; nil leaves the choice open.
    public let hint: IndexHint?
    /// How texts compare; nil is by their bytes.
    public let collation: Collation?
    /// Whether the app's schema is not asked; functions alone may say so.
    public var bypassesSchema = false

    /// None, but for what is given.
    init(
        variables: [NamedExpression] = [],
        timeLimit: Int? = nil,
        collation: Collation? = nil,
        hint: IndexHint? = nil
    ) {
        self.variables = variables
        self.timeLimit = timeLimit
        self.collation = collation
        self.hint = hint
    }

    /// Whether there is a `let` with a variable in it.
    public var hasVariables: Bool { !variables.isEmpty }

    /// No option at all.
    public static let none = OperationOptions()

    /// The values of `let`, in order; a nil value is a missing one.
    ///
    /// - Throws: ``ServiceError`` of an expression that fails.
    public func values(_ context: EvaluationContext) throws(ServiceError) -> [(
        name: String, value: BSONValue?
    )] {
        var context = context
        var values: [(name: String, value: BSONValue?)] = []
        for variable in variables {
            let value = try variable.expression.evaluate(BSONDocument(), context)
            context.bind(variable.name, to: value)
            values.append((variable.name, value))
        }
        return values
    }
}

/// An index, as a request names it.
public enum IndexHint: Sendable, Hashable {
    case name(String)
    /// Its keys, such as `{a: 1}`.
    case keys(BSONDocument)

    /// Whether every collection has it: the index on `_id`, or none, which `$natural` asks for.
    public var isBuiltIn: Bool {
        switch self {
        case .name(let name): name == "_id_"
        case .keys(let keys):
            keys.count == 1 && keys.firstKey == "$natural"
                || keys.count == 1 && keys.firstKey == "_id" && keys["_id"]?.exactInt64 == 1
        }
    }
}

extension RestrictedOperators {
    /// Checks the options of a user's operation.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter`, naming the option or operator.
    public static func check(options: OperationOptions) throws(ServiceError) {
        if options.collation != nil {
            throw ServiceError(
                .invalidParameter,
                "option 'collation' is not available to application users",
                details: ["option": "collation"]
            )
        }
        for variable in options.variables { try check(expression: variable.expression) }
    }
}
