import BSON
import Errors

/// Reads one stage from its name and operand.
enum StageParser {
    /// - Throws: ``ServiceError`` with MongoDB's code for the fault.
    static func parse(
        _ name: String,
        _ operand: BSONValue,
        isFirst: Bool = true,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Stage {
        switch name {
        case "$match":
            guard case .document(let document) = operand else {
                throw .mongo(15959, "the match filter must be an expression in an object")
            }
            return .match(try FilterParser.parseStage(document, isFirst: isFirst, budget))
        case "$project": return try parseProject(operand, budget)
        case "$addFields", "$set": return .addFields(try FieldAssignments.parse(operand, stage: name, budget))
        case "$unset": return .unset(try parseUnset(operand, budget))
        case "$group": return .group(try GroupParser.parse(operand, budget))
        case "$sort":
            guard case .document(let document) = operand else {
                throw .mongo(15973, "the $sort key specification must be an object")
            }
            if document.isEmpty { throw .mongo(15976, "$sort stage must have at least one sort key") }
            return .sort(try SortParser.parse(document, budget))
        case "$limit": return .limit(try parseLimit(operand))
        case "$skip": return .skip(try parseSkip(operand))
        case "$count": return .count(try parseCount(operand))
        case "$unwind": return .unwind(try UnwindParser.parse(operand))
        case "$sortByCount": return .sortByCount(try parseSortByCount(operand, budget))
        case "$replaceWith": return .replaceRoot(try ExpressionParser.parseChecked(operand, budget))
        case "$replaceRoot": return .replaceRoot(try parseReplaceRoot(operand, budget))
        case "$sample": return .sample(try parseSample(operand))
        case "$bucket": return .bucket(try BucketParser.parse(operand, budget))
        case "$bucketAuto": return .bucketAuto(try BucketParser.parseAuto(operand, budget))
        case "$redact":
            return .redact(
                try ExpressionParser.parse(
                    operand,
                    variables: budget.variables.union(["DESCEND", "PRUNE", "KEEP"])
                )
            )
        case "$lookup": return .lookup(try LookupParser.parse(operand, budget))
        case "$unionWith": return .unionWith(try LookupParser.parseUnion(operand, budget))
        case "$graphLookup": return .graphLookup(try GraphLookupParser.parse(operand, budget))
        case "$merge": return .merge(try MergeParser.parse(operand, budget))
        case "$out": return .out(try MergeParser.parseOut(operand))
        case "$setWindowFields": return .setWindowFields(try WindowParser.parse(operand, budget))
        case "$densify": return .densify(try DensifyParser.parse(operand))
        case "$fill": return .fill(try FillParser.parse(operand, budget))
        case "$documents": return .documents(try ExpressionParser.parse(operand, budget))
        case "$facet":
            return .facet(try parseFacet(operand, budget))
        default:
            if unserved.contains(name) {
                throw .mongo(238, "The pipeline stage '\(name)' is not supported by tidegate")
            }
            throw .mongo(40324, "Unrecognized pipeline stage name: '\(name)'.")
        }
    }

    /// Stages that MongoDB has and tidegate refuses by name.
    static let unserved: Set<String> = [
        "$geoNear", "$search", "$searchMeta",
        "$vectorSearch", "$rankFusion",
        "$scoreFusion", "$score", "$collStats", "$indexStats", "$planCacheStats", "$currentOp",
        "$listSessions", "$listLocalSessions", "$listSampledQueries", "$listSearchIndexes",
        "$listCatalog", "$listClusterCatalog", "$listMqlEntities", "$changeStream",
        "$changeStreamSplitLargeEvent", "$queue", "$querySettings", "$queryStats",
        "$shardedDataDistribution", "$backupCursor", "$backupCursorExtend", "$operationMetrics",
    ]

    private static func parseProject(
        _ operand: BSONValue,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Stage {
        guard case .document(let document) = operand else {
            throw .mongo(15969, "$project specification must be an object")
        }
        guard !document.isEmpty,
            let projection = try ProjectionParser.parse(document, inPipeline: true, budget)
        else {
            throw .mongo(
                51272,
                "Invalid $project :: caused by :: projection specification must have at least one field"
            )
        }
        return .project(projection)
    }

    private static func parseUnset(
        _ operand: BSONValue,
        _ budget: ParseBudget
    ) throws(ServiceError) -> [FieldPath] {
        switch operand {
        case .string(let path):
            try checkNoNull(path)
            return [try parseUnsetPath(path)]
        case .array(let elements):
            if elements.isEmpty {
                throw .mongo(
                    31119,
                    "$unset specification must be a string or an array with at least one field"
                )
            }
            try budget.checkFields(elements.count)
            // MongoDB looks at all types first, then for NULs, then at paths.
            var texts: [String] = []
            for element in elements {
                guard case .string(let path) = element else {
                    throw .mongo(
                        31120,
                        "$unset specification must be a string or an array containing only string values"
                    )
                }
                texts.append(path)
            }
            for text in texts { try checkNoNull(text) }
            var paths: [FieldPath] = []
            for text in texts { paths.append(try parseUnsetPath(text)) }
            if let collision = PathCollision(in: paths) {
                throw .mongo(
                    collision.childIsLater ? 31249 : 31250,
                    "Invalid $unset :: caused by :: Path collision at \(collision.child.dotted)"
                )
            }
            return paths
        default: throw .mongo(31002, "$unset specification must be a string or an array")
        }
    }

    private static func checkNoNull(_ path: String) throws(ServiceError) {
        if path.utf8.contains(0) {
            throw .mongo(9_527_900, "The path of $unset must not contain an embedded null byte")
        }
    }

    private static func parseUnsetPath(_ path: String) throws(ServiceError) -> FieldPath {
        FieldPath(components: try ExpressionPath.components(path))
    }

    private static func parseLimit(_ operand: BSONValue) throws(ServiceError) -> Int {
        let limit = try wholeNumber(operand, code: 5_107_201, stage: "$limit")
        if limit < 0 {
            throw .mongo(
                5_107_201,
                "invalid argument to $limit stage: Expected a non-negative number in: $limit: \(limit)"
            )
        }
        if limit == 0 { throw .mongo(15958, "the limit must be positive") }
        return limit
    }

    private static func parseSkip(_ operand: BSONValue) throws(ServiceError) -> Int {
        let skip = try wholeNumber(operand, code: 5_107_200, stage: "$skip")
        if skip < 0 {
            throw .mongo(
                5_107_200,
                "invalid argument to $skip stage: Expected a non-negative number in: $skip: \(skip)"
            )
        }
        return skip
    }

    /// An integral number of any numeric type within 64 bits.
    static func wholeNumber(_ value: BSONValue, code: Int, stage: String) throws(ServiceError) -> Int {
        guard let number = NumericValue(value) else {
            throw .mongo(code, "invalid argument to \(stage) stage: Expected a number in: \(stage)")
        }
        guard let whole = number.exactInt64 else {
            throw .mongo(
                code,
                "invalid argument to \(stage) stage: Cannot represent as a 64-bit integer in: \(stage)"
            )
        }
        return Int(whole)
    }

    private static func parseCount(_ operand: BSONValue) throws(ServiceError) -> String {
        guard case .string(let name) = operand else {
            throw .mongo(40156, "the count field must be a non-empty string")
        }
        if name.isEmpty { throw .mongo(40157, "the count field must be a non-empty string") }
        if name.utf8.first == UInt8(ascii: "$") {
            throw .mongo(40158, "the count field cannot be a $-prefixed path")
        }
        if name.utf8.contains(0) { throw .mongo(40159, "the count field cannot contain a null byte") }
        if name.utf8.contains(UInt8(ascii: ".")) {
            throw .mongo(40160, "the count field cannot contain '.'")
        }
        if name == "_id" { throw .mongo(9_039_800, "the count field cannot be '_id'") }
        return name
    }

    private static func parseSortByCount(_ operand: BSONValue, _ budget: ParseBudget)
        throws(ServiceError) -> AggregationExpression
    {
        switch operand {
        case .string(let text) where text.utf8.first == UInt8(ascii: "$"):
            return try ExpressionParser.parse(operand, budget)
        case .document(let document) where document.firstKey?.utf8.first == UInt8(ascii: "$"):
            return try ExpressionParser.parse(operand, budget)
        case .document:
            throw .mongo(
                40147,
                "the sortByCount field must be defined as a $-prefixed path or an expression inside an object"
            )
        case .string:
            throw .mongo(40148, "the sortByCount field must be defined as a $-prefixed path or an expression")
        default:
            throw .mongo(
                40149,
                "the sortByCount field must be specified as a string or as an object"
            )
        }
    }

    private static func parseReplaceRoot(_ operand: BSONValue, _ budget: ParseBudget)
        throws(ServiceError) -> AggregationExpression
    {
        guard case .document(let document) = operand else {
            throw .mongo(
                40229,
                "expected an object as specification for $replaceRoot stage, got \(known: TypeName.of(operand))"
            )
        }
        for field in document where field.key != "newRoot" {
            throw .mongo(
                40415,
                "BSON field '$replaceRoot.\(field.key)' is an unknown field."
            )
        }
        guard let root = document["newRoot"] else {
            throw .mongo(
                40414,
                "BSON field '$replaceRoot.newRoot' is missing but a required field"
            )
        }
        return try ExpressionParser.parseChecked(root, budget)
    }

    private static func parseSample(_ operand: BSONValue) throws(ServiceError) -> Int {
        guard case .document(let document) = operand else {
            throw .mongo(28745, "the $sample stage specification must be an object")
        }
        var size: NumericValue?
        for field in document {
            guard field.key == "size" else {
                throw .mongo(28748, "unrecognized option to $sample: \(field.key)")
            }
            guard let number = NumericValue(field.value) else {
                throw .mongo(28746, "size argument to $sample must be a number")
            }
            size = number
        }
        guard let size else { throw .mongo(28749, "$sample stage must specify a size") }
        // What is larger than any integer is as good as the largest.
        let isHuge = !size.isNaN && size.doubleValue >= 0x1p63
        guard let count = isHuge ? Int64.max : size.roundedInt64, count > 0 else {
            throw .mongo(28747, "size argument to $sample must be a positive integer")
        }
        return Int(count)
    }

    private static func parseFacet(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError)
        -> [(name: String, pipeline: Pipeline)]
    {
        guard case .document(let document) = operand, !document.isEmpty else {
            throw .mongo(40169, "the $facet specification must be a non-empty object")
        }
        let outer = budget.isInFacet
        budget.isInFacet = true
        defer { budget.isInFacet = outer }
        var facets: [(name: String, pipeline: Pipeline)] = []
        for field in document {
            try ExpressionPath.checkName(field.key)
            guard case .array(let stages) = field.value else {
                throw .mongo(
                    40170,
                    "arguments to $facet must be arrays, \(field.key) is type \(known: TypeName.of(field.value))"
                )
            }
            for stage in stages {
                guard case .document = stage else {
                    throw .mongo(
                        40171,
                        "elements of arrays in $facet spec must be objects, \(field.key) argument contained an element of type \(known: TypeName.of(stage))"
                    )
                }
            }
            facets.append((field.key, try PipelineParser.parse(stages, place: .facet, budget)))
        }
        return facets
    }
}
