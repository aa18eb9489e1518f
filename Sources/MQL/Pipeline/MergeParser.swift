import BSON
import Errors

/// Reads the operands of `$merge` and `$out`.
enum MergeParser {
    private static let reservedDatabases: Set<String> = ["admin", "config", "local"]

    /// Reads `"collection"` or `{into, on, let, whenMatched, whenNotMatched}`.
    ///
    /// - Throws: ``ServiceError`` with MongoDB's code for the fault: 14, 40414, 40415, 51178 to 51199, 51273, or
    ///   that of a name, a path, an expression or a stage.
    static func parse(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError) -> MergeArguments {
        let document: BSONDocument
        switch operand {
        case .string(let name):
            return MergeArguments(
                target: OutputTarget(database: nil, collection: try LookupParser.checked(name)),
                fields: ["_id"],
                variables: [],
                whenMatched: .merge,
                whenNotMatched: .insert
            )
        case .document(let fields): document = fields
        default:
            throw .mongo(
                .typeMismatch,
                "$merge requires a string or object argument, but found \(known: TypeName.of(operand))"
            )
        }
        try LookupParser.checkFields(
            document,
            ["into", "on", "let", "whenMatched", "whenNotMatched", "targetCollectionVersion"],
            stage: "$merge"
        )
        guard let into = document["into"] else {
            throw .mongo(40414, "BSON field '$merge.into' is missing but a required field")
        }
        let target = try parseTarget(into)
        let fields = try document["on"].map { on throws(ServiceError) in try parseFields(on) } ?? ["_id"]
        let whenNotMatched = try parseWhenNotMatched(document["whenNotMatched"])
        let variables = try parseVariables(document["let"], budget)
        let whenMatched = try parseWhenMatched(document["whenMatched"], variables, budget)
        switch (whenMatched, whenNotMatched) {
        case (.keepExisting, .discard), (.keepExisting, .fail), (.fail, .discard), (.fail, .fail):
            throw .mongo(
                51181,
                "Combination of {whenMatched, whenNotMatched: \(whenNotMatched.rawValue)} modes is not supported"
            )
        default: break
        }
        return MergeArguments(
            target: target,
            fields: fields,
            variables: variables ?? [],
            whenMatched: whenMatched,
            whenNotMatched: whenNotMatched
        )
    }

    private static func parseTarget(_ into: BSONValue) throws(ServiceError) -> OutputTarget {
        switch into {
        case .string(let name):
            if name.isEmpty { throw .mongo(5_786_800, "$merge 'into' must not be an empty string") }
            if name.utf8.starts(with: "system.".utf8) { throw systemCollection(31319, "$merge") }
            return OutputTarget(database: nil, collection: try LookupParser.checked(name))
        case .document(let parts):
            for part in parts where part.key != "db" && part.key != "coll" {
                throw .mongo(40415, "BSON field '$merge.into.\(part.key)' is an unknown field.")
            }
            // An empty name is that of the database which is read.
            let database = try name(parts, "db", "$merge.into").flatMap { $0.isEmpty ? nil : $0 }
            guard let collection = try name(parts, "coll", "$merge.into"), !collection.isEmpty else {
                throw .mongo(5_786_801, "$merge 'into' must name a collection in 'coll'")
            }
            if collection.utf8.starts(with: "system.".utf8) { throw systemCollection(31319, "$merge") }
            return try checked(database, collection, reserved: 31320, stage: "$merge")
        default:
            throw .mongo(
                51178,
                "$merge 'into' field must be either a string or an object, but found \(known: TypeName.of(into))"
            )
        }
    }

    /// Reads the operand of `$out`: `"collection"` or `{db, coll}`.
    ///
    /// - Throws: ``ServiceError`` with server code 14, 73, 238, 16990, 17385, 31321, 40413, 40414 or 40415.
    static func parseOut(_ operand: BSONValue) throws(ServiceError) -> OutputTarget {
        switch operand {
        case .string(let name):
            if name.utf8.starts(with: "system.".utf8) { throw systemCollection(17385, "$out") }
            try checkOut(name)
            return OutputTarget(database: nil, collection: try LookupParser.checked(name))
        case .document(let parts):
            try LookupParser.checkFields(parts, ["db", "coll", "timeseries"], stage: "$out")
            let database = try name(parts, "db", "$out")
            let collection = try name(parts, "coll", "$out")
            if let series = parts["timeseries"], !series.isNull {
                throw TimeSeriesOptions.refusal(of: series)
            }
            guard let database else {
                throw .mongo(40414, "BSON field '$out.db' is missing but a required field")
            }
            guard let collection else {
                throw .mongo(40414, "BSON field '$out.coll' is missing but a required field")
            }
            if collection.utf8.starts(with: "system.".utf8) { throw systemCollection(17385, "$out") }
            try checkOut(collection)
            return try checked(database, collection, reserved: 31321, stage: "$out")
        default:
            throw .mongo(
                16990,
                "$out only supports a string or object argument, but found \(known: TypeName.of(operand))"
            )
        }
    }

    /// `$out` has a code of its own for names that no collection can have.
    private static func checkOut(_ name: String) throws(ServiceError) {
        if name.utf8.contains(UInt8(ascii: "$")) || name.utf8.count > 255 {
            throw .mongo(20, "$out cannot write to the collection \(MessageText.shortened(name))")
        }
    }

    private static func systemCollection(_ code: Int, _ stage: String) -> ServiceError {
        .mongo(code, "\(stage) cannot write to a system collection")
    }

    private static func name(_ parts: BSONDocument, _ key: String, _ place: String) throws(ServiceError)
        -> String?
    {
        switch parts[key] {
        case nil, .null?, .undefined?: return nil
        case .string(let text)?: return text
        case let other?: throw LookupParser.mismatch("\(place).\(key)", other, "string")
        }
    }

    private static func checked(
        _ database: String?,
        _ collection: String,
        reserved: Int,
        stage: String
    ) throws(ServiceError) -> OutputTarget {
        if let database {
            if reservedDatabases.contains(database) {
                throw .mongo(reserved, "\(stage) cannot write to the internal database \(database)")
            }
            let forbidden = Set("/\\. \"$*<>:|?\0".utf8)
            guard (1...63).contains(database.utf8.count), !database.utf8.contains(where: forbidden.contains)
            else {
                throw .mongo(73, "Invalid database name: \(MessageText.shortened(database))")
            }
        }
        return OutputTarget(database: database, collection: try LookupParser.checked(collection))
    }

    private static func parseFields(_ value: BSONValue) throws(ServiceError) -> [FieldPath] {
        switch value {
        case .string(let path): return [FieldPath(components: try ExpressionPath.components(path))]
        case .array(let elements):
            if elements.isEmpty { throw .mongo(51187, "$merge 'on' must name at least one field") }
            var fields: [FieldPath] = []
            for element in elements {
                guard case .string(let path) = element else {
                    throw .mongo(
                        51134,
                        "$merge 'on' array elements must be strings, but found \(known: TypeName.of(element))"
                    )
                }
                let field = FieldPath(components: try ExpressionPath.components(path))
                if fields.contains(field) {
                    throw .mongo(31465, "Found a duplicate field in the 'on' array: \(field.dotted)")
                }
                fields.append(field)
            }
            return fields
        default:
            throw .mongo(
                51186,
                "$merge 'on' field must be either a string or an array of strings, but found \(known: TypeName.of(value))"
            )
        }
    }

    /// nil where there is no `let`.
    private static func parseVariables(_ value: BSONValue?, _ budget: ParseBudget) throws(ServiceError)
        -> [NamedExpression]?
    {
        switch value {
        case nil, .null?, .undefined?: return nil
        case .document(let names)?:
            if let new = names["new"], new != .string("$$ROOT") {
                throw .mongo(51273, "'let' may not define a value for the reserved 'new' variable")
            }
            return try LookupParser.parseVariables(names, budget)
        case let other?: throw LookupParser.mismatch("$merge.let", other, "object")
        }
    }

    private static func parseWhenMatched(
        _ value: BSONValue?,
        _ variables: [NamedExpression]?,
        _ budget: ParseBudget
    ) throws(ServiceError) -> MergeArguments.WhenMatched {
        let mode: MergeArguments.WhenMatched
        switch value {
        case nil: mode = .merge
        case .string("replace")?: mode = .replace
        case .string("keepExisting")?: mode = .keepExisting
        case .string("merge")?: mode = .merge
        case .string("fail")?: mode = .fail
        case .string(let text)?: throw unknownValue(text, "whenMatched")
        case .array(let stages)?:
            let outer = budget.variables
            defer { budget.variables = outer }
            budget.variables.formUnion(variables?.map(\.name) ?? [])
            budget.variables.insert("new")
            let pipeline = try PipelineParser.parse(stages, budget)
            do throws(ServiceError) {
                try UpdateParser.checkStages(pipeline)
            } catch {
                return .refused(error)
            }
            return .pipeline(pipeline)
        case let other?:
            throw .mongo(
                51191,
                "$merge 'whenMatched' field must be either a string or an array, but found \(known: TypeName.of(other))"
            )
        }
        if variables != nil {
            throw .mongo(51199, "Cannot use 'let' variables with a 'whenMatched' that is not a pipeline")
        }
        return mode
    }

    private static func parseWhenNotMatched(_ value: BSONValue?) throws(ServiceError)
        -> MergeArguments.WhenNotMatched
    {
        switch value {
        case nil, .null?, .undefined?: return .insert
        case .string(let text)?:
            guard let mode = MergeArguments.WhenNotMatched(rawValue: text) else {
                throw unknownValue(text, "whenNotMatched")
            }
            return mode
        case let other?: throw LookupParser.mismatch("$merge.whenNotMatched", other, "string")
        }
    }

    private static func unknownValue(_ text: String, _ field: String) -> ServiceError {
        .mongo(
            .badValue,
            "Enumeration value '\(MessageText.shortened(text))' for field '$merge.\(field)' is not a valid value."
        )
    }
}
