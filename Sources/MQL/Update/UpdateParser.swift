public import BSON
public import Errors

/// Turns an update document or pipeline into an ``Update``.
///
/// Source: `reference/mql.md` §6.
public enum UpdateParser {
    /// Parses an update.
    ///
    /// - Parameters:
    ///   - value: A document of operators, a document without operators (a replacement) or an array of stages.
    ///   - arrayFilters: Conditions for the `$[id]` of paths.
    ///   - multi: Whether the update is for many documents; a replacement is not.
    ///   - limits: How much it may name.
    /// - Returns: The update, with the paths of its operators checked against each other.
    /// - Throws: ``ServiceError`` with MongoDB's code for the fault.
    public static func parse(
        _ value: BSONValue,
        arrayFilters: [BSONDocument] = [],
        multi: Bool,
        limits: ParseLimits = .unbounded
    ) throws(ServiceError) -> Update {
        try parse(value, arrayFilters: arrayFilters, multi: multi, ParseBudget(limits))
    }

    /// As ``parse(_:arrayFilters:multi:limits:)`` for one of several parts of an operation.
    static func parse(
        _ value: BSONValue,
        arrayFilters: [BSONDocument],
        multi: Bool,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Update {
        switch value {
        case .document(let document):
            if document.firstKey?.startsWithDollar == true {
                return try operators(document, arrayFilters, budget)
            }
            if multi {
                throw .mongo(
                    .failedToParse,
                    "multi update is not supported for replacement-style update"
                )
            }
            if !arrayFilters.isEmpty {
                throw .mongo(
                    .failedToParse,
                    "arrayFilters may not be specified for replacement-style updates"
                )
            }
            return .replacement(try replacement(document))
        case .array(let stages):
            if !arrayFilters.isEmpty {
                throw .mongo(
                    .failedToParse,
                    "arrayFilters may not be specified for pipeline-syle updates"
                )
            }
            return .pipeline(try pipeline(stages, budget))
        default:
            throw .mongo(
                .failedToParse,
                "Update argument must be either an object or an array"
            )
        }
    }

    /// Checks a replacement: no operators at its top level.
    ///
    /// - Throws: ``ServiceError`` with server code 52.
    static func replacement(_ document: BSONDocument) throws(ServiceError) -> BSONDocument {
        for field in document where field.key.startsWithDollar {
            throw .mongo(
                .dollarPrefixedFieldName,
                "The dollar ($) prefixed field '\(field.key)' in '\(field.key)' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith."
            )
        }
        return document
    }

    static func pipeline(
        _ stages: [BSONValue],
        _ budget: ParseBudget
    ) throws(ServiceError) -> Pipeline {
        let outer = budget.variables
        defer { budget.variables = outer }
        budget.variables.insert(ExpressionScope.clusterTime)
        let pipeline = try PipelineParser.parse(stages, budget)
        try checkStages(pipeline)
        return pipeline
    }

    /// Refuses stages that no update may have.
    ///
    /// - Throws: ``ServiceError`` with server code 72.
    static func checkStages(_ pipeline: Pipeline) throws(ServiceError) {
        for stage in pipeline.stages where !stage.isAllowedInUpdate {
            throw .mongo(72, "\(stage.name) is not allowed to be used within an update")
        }
    }

    private static func operators(
        _ document: BSONDocument,
        _ arrayFilters: [BSONDocument],
        _ budget: ParseBudget
    ) throws(ServiceError) -> Update {
        let filters = try ArrayFilterParser.parse(arrayFilters, budget)
        var changes: [UpdateChange] = []
        let conflicts = UpdateConflicts()
        for field in document {
            guard let parser = UpdateOperatorParser(name: field.key) else {
                throw .mongo(
                    .failedToParse,
                    "Unknown modifier: \(field.key). Expected a valid update modifier or pipeline-style update specified as an array"
                )
            }
            guard case .document(let operands) = field.value else {
                throw .mongo(
                    .failedToParse,
                    "Modifiers operate on fields but we found type \(known: TypeName.of(field.value)) instead. For example: {$mod: {<field>: ...}} not {\(field.key): \(MongoShellText.describe(field.value))}"
                )
            }
            try budget.checkPaths(changes.count + operands.count)
            for operand in operands {
                let change = try parser.change(operand.key, operand.value, budget)
                try conflicts.add(change)
                changes.append(change)
            }
        }
        try checkUse(of: filters, by: changes)
        return .operators(UpdateOrder.sorted(changes), arrayFilters: filters)
    }

    /// Every `$[id]` has its filter, and every filter its `$[id]`.
    private static func checkUse(
        of filters: [String: Filter],
        by changes: [UpdateChange]
    ) throws(ServiceError) {
        var used = Set<String>()
        for change in changes {
            for case .filtered(let identifier) in change.path.components {
                guard filters[identifier] != nil else {
                    throw .mongo(
                        .badValue,
                        "No array filter found for identifier '\(identifier)' in path '\(change.path.text)'"
                    )
                }
                used.insert(identifier)
            }
        }
        if let unused = filters.keys.filter({ !used.contains($0) }).min() {
            throw .mongo(
                .failedToParse,
                "The array filter for identifier '\(unused)' was not used in the update"
            )
        }
    }
}
