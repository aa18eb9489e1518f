public import Errors

/// The part about pipelines and expressions. Source: `reference/rules.md` §16.
extension RestrictedOperators {
    /// Stages that only system requests may use.
    ///
    /// The parser refuses some of them for everybody.
    static let stages: Set<String> = [
        "$collStats", "$currentOp", "$facet", "$geoNear", "$graphLookup", "$indexStats", "$lookup",
        "$merge", "$out", "$unionWith",
    ]

    /// Expression operators that only system requests may use.
    static let expressionOperators: Set<ExpressionOperator> = [.setIsSubset]

    /// Checks a pipeline of a user: its stages, and the filters and expressions inside.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter`, naming the stage or operator.
    public static func check(pipeline: Pipeline, options: Options = Options()) throws(ServiceError) {
        for stage in pipeline.stages {
            if stages.contains(stage.name) { throw refusal(of: stage.name) }
            switch stage {
            case .match(let filter): try check(filter: filter, options: options)
            case .project(let projection): try check(projection: projection, options: options)
            case .addFields(let assignments):
                for assignment in assignments { try check(expression: assignment.expression) }
            case .group(let arguments):
                try check(expression: arguments.id)
                try check(arguments.fields)
            case .bucket(let arguments):
                try check(expression: arguments.groupBy)
                try check(arguments.fields)
            case .bucketAuto(let arguments):
                try check(expression: arguments.groupBy)
                try check(arguments.fields)
            case .sortByCount(let expression), .replaceRoot(let expression), .redact(let expression):
                try check(expression: expression)
            case .facet(let facets):
                for facet in facets { try check(pipeline: facet.pipeline, options: options) }
            case .setWindowFields(let arguments): try check(arguments)
            case .fill(let arguments):
                if let window = arguments.window { try check(window) }
                for assignment in arguments.assignments { try check(expression: assignment.expression) }
            case .documents(let expression): try check(expression: expression)
            case .lookup(let arguments):
                for variable in arguments.variables { try check(expression: variable.expression) }
                try check(pipeline: arguments.pipeline, options: options)
            case .unionWith(let arguments): try check(pipeline: arguments.pipeline, options: options)
            case .graphLookup(let arguments):
                try check(expression: arguments.start)
                try check(filter: arguments.restriction, options: options)
            case .merge, .out: break
            case .unset, .sort, .limit, .skip, .count, .unwind, .sample, .densify: break
            }
        }
    }

    private static func check(_ window: WindowArguments) throws(ServiceError) {
        if let partition = window.partition { try check(expression: partition) }
        for output in window.outputs {
            for expression in output.function.expressions { try check(expression: expression) }
        }
    }

    /// Checks an expression of a user.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter`, naming the operator.
    public static func check(expression: AggregationExpression) throws(ServiceError) {
        switch expression {
        case .call(let op, _), .namedCall(let op, _):
            if expressionOperators.contains(op) { throw refusal(of: op.rawValue) }
        default: break
        }
        for child in expression.children { try check(expression: child) }
    }

    private static func check(_ fields: [(name: String, accumulator: Accumulator)]) throws(ServiceError) {
        for field in fields {
            try check(expression: field.accumulator.operand)
            if let limit = field.accumulator.limit { try check(expression: limit) }
        }
    }
}
