import BSON
import Errors

/// Reads the operands of `$lookup`, `$unionWith` and `$graphLookup`.
enum LookupParser {
    /// The most pipelines inside each other.
    private static let maximumNesting = 20

    /// Reads `{from, localField, foreignField, let, pipeline, as}`.
    ///
    /// - Throws: ``ServiceError`` with server code 9, 14, 73, 40413 to 40415, or that of the pipeline.
    static func parse(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError) -> LookupArguments {
        guard case .document(let document) = operand else {
            throw .mongo(
                .failedToParse,
                "the $lookup stage specification must be an object, but found \(known: TypeName.of(operand))"
            )
        }
        let from = try collection(document, "from", stage: "$lookup")
        try checkFields(
            document,
            ["from", "localField", "foreignField", "let", "pipeline", "as", "_internalCollation"],
            stage: "$lookup"
        )
        guard let target = try path(document, "as", stage: "$lookup") else {
            throw .mongo(40414, "BSON field '$lookup.as' is missing but a required field")
        }
        let local = try path(document, "localField", stage: "$lookup")
        let foreign = try path(document, "foreignField", stage: "$lookup")
        var variables: [NamedExpression] = []
        switch document["let"] {
        case nil, .null?: break
        case .document(let names)?: variables = try parseVariables(names, budget)
        case let other?: throw mismatch("$lookup.let", other, "object")
        }
        var pipeline: Pipeline?
        if let value = document["pipeline"] {
            pipeline = try subPipeline(
                value,
                of: "$lookup",
                from: from,
                variables: variables.map(\.name),
                budget
            )
        }
        guard (local == nil) == (foreign == nil) else {
            throw .mongo(
                .failedToParse,
                "$lookup requires both or neither of 'localField' and 'foreignField' to be specified"
            )
        }
        if pipeline == nil {
            guard local != nil else {
                throw .mongo(
                    .failedToParse,
                    "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified"
                )
            }
            if let variables = document["let"], !variables.isNull {
                throw .mongo(.failedToParse, "$lookup with a 'let' argument must also specify 'pipeline'")
            }
        }
        return LookupArguments(
            from: from,
            fields: local.flatMap { local in foreign.map { (local, $0) } },
            variables: variables,
            pipeline: pipeline ?? Pipeline(stages: []),
            target: target
        )
    }

    /// Reads `"collection"` or `{coll, pipeline}`.
    ///
    /// - Throws: ``ServiceError`` with server code 9, 14, 73, 40413 to 40415, or that of the pipeline.
    static func parseUnion(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError)
        -> UnionArguments
    {
        switch operand {
        case .string(let name):
            return UnionArguments(from: try checkedSource(name), pipeline: Pipeline(stages: []))
        case .document(let document):
            let from = try collection(document, "coll", stage: "$unionWith")
            try checkFields(document, ["coll", "pipeline", "_internalCollation"], stage: "$unionWith")
            var pipeline = Pipeline(stages: [])
            if let value = document["pipeline"] {
                pipeline = try subPipeline(value, of: "$unionWith", from: from, variables: [], budget)
            }
            return UnionArguments(from: from, pipeline: pipeline)
        default:
            throw .mongo(
                .failedToParse,
                "the $unionWith stage specification must be an object or string, but found \(known: TypeName.of(operand))"
            )
        }
    }

    /// The name of the other collection; nil where the pipeline brings its own documents.
    private static func collection(_ document: BSONDocument, _ name: String, stage: String)
        throws(ServiceError) -> String?
    {
        switch document[name] {
        case .string(let text)?: return try checkedSource(text)
        case nil:
            if case .document(let first)? = document["pipeline"]?.array?.first, first.firstKey == "$documents"
            {
                return nil
            }
            throw .mongo(
                .failedToParse,
                "must specify '\(name)' field for a \(stage) whose pipeline does not begin with $documents"
            )
        case .document(let parts)?:
            for part in parts where part.key != "db" && part.key != "coll" {
                throw .mongo(40415, "BSON field '\(stage).\(name).\(part.key)' is an unknown field.")
            }
            for part in parts {
                if case .string = part.value { continue }
                throw mismatch("\(stage).\(name).\(part.key)", part.value, "string")
            }
            throw .mongo(.failedToParse, "\(stage) with syntax {\(name): {db: …, coll: …}} is not supported")
        case let other?:
            throw .mongo(
                .failedToParse,
                "\(stage) argument '\(name)' must be a string, is type \(known: TypeName.of(other))"
            )
        }
    }

    /// - Throws: ``ServiceError`` with server code 73 for what no collection can be called.
    /// A collection that is read: any name may turn out to be none.
    static func checkedSource(_ name: String) throws(ServiceError) -> String {
        let bytes = name.utf8
        guard !bytes.isEmpty, !bytes.contains(0), bytes.first != UInt8(ascii: "."),
            !bytes.starts(with: "system.".utf8)
        else {
            throw .mongo(73, "Invalid collection name: \(MessageText.shortened(name))")
        }
        return name
    }

    /// A collection that is written.
    static func checked(_ name: String) throws(ServiceError) -> String {
        let bytes = name.utf8
        guard !bytes.isEmpty, !bytes.contains(0), bytes.first != UInt8(ascii: "."),
            !bytes.contains(UInt8(ascii: "$")), !bytes.starts(with: "system.".utf8), bytes.count <= 255
        else {
            throw .mongo(73, "Invalid collection name: \(MessageText.shortened(name))")
        }
        return name
    }

    static func checkFields(_ document: BSONDocument, _ known: [String], stage: String)
        throws(ServiceError)
    {
        var seen = Set<ByteText>()
        for field in document {
            guard known.contains(field.key) else {
                throw .mongo(40415, "BSON field '\(stage).\(field.key)' is an unknown field.")
            }
            guard seen.insert(ByteText(field.key)).inserted else {
                throw .mongo(40413, "BSON field '\(stage).\(field.key)' is a duplicate field")
            }
        }
    }

    private static func path(_ document: BSONDocument, _ name: String, stage: String) throws(ServiceError)
        -> FieldPath?
    {
        switch document[name] {
        case nil, .null?: return nil
        case .string(let text)?:
            if text.isEmpty, name != "as" { return nil }
            return FieldPath(components: try ExpressionPath.components(text))
        case let other?: throw mismatch("\(stage).\(name)", other, "string")
        }
    }

    static func parseVariables(_ names: BSONDocument, _ budget: ParseBudget) throws(ServiceError)
        -> [NamedExpression]
    {
        try budget.checkFields(names.count)
        var variables: [NamedExpression] = []
        for field in names {
            if field.key == "CURRENT" {
                throw .mongo(.failedToParse, "'CURRENT' is not a name for a variable here")
            }
            try ExpressionPath.checkVariable(field.key)
            variables.append(
                NamedExpression(name: field.key, expression: try ExpressionParser.parse(field.value, budget))
            )
        }
        return variables
    }

    /// A pipeline inside a stage, with more variables in scope.
    private static func subPipeline(
        _ value: BSONValue,
        of stage: String,
        from: String?,
        variables: [String],
        _ budget: ParseBudget
    ) throws(ServiceError) -> Pipeline {
        guard case .array(let stages) = value else { throw mismatch("\(stage).pipeline", value, "array") }
        for element in stages {
            guard case .document = element else { throw mismatch("\(stage).pipeline", element, "object") }
        }
        guard budget.nesting < maximumNesting else {
            throw .mongo(
                232,
                "Maximum number of nested sub-pipelines exceeded. Limit is \(maximumNesting)"
            )
        }
        let outer = budget.variables
        budget.nesting += 1
        defer {
            budget.nesting -= 1
            budget.variables = outer
        }
        budget.variables.formUnion(variables)
        budget.variables.remove(TextScore.field)
        return try PipelineParser.parse(stages, place: .inside(stage, hasCollection: from != nil), budget)
    }

    static func mismatch(_ name: String, _ value: BSONValue, _ expected: String) -> ServiceError {
        .mongo(
            .typeMismatch,
            "BSON field '\(name)' is the wrong type '\(known: TypeName.of(value))', expected type '\(expected)'"
        )
    }
}
