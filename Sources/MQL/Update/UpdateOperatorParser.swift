import BSON
import Errors

/// Reads the operands of one update operator.
struct UpdateOperatorParser {
    private enum Name: String {
        case set = "$set"
        case unset = "$unset"
        case increment = "$inc"
        case multiply = "$mul"
        case minimum = "$min"
        case maximum = "$max"
        case rename = "$rename"
        case setOnInsert = "$setOnInsert"
        case currentDate = "$currentDate"
        case push = "$push"
        case addToSet = "$addToSet"
        case pop = "$pop"
        case pull = "$pull"
        case pullAll = "$pullAll"
        case bit = "$bit"
    }

    private let name: Name

    /// Nil for what is no update operator.
    init?(name: String) {
        guard let name = Name(rawValue: name) else { return nil }
        self.name = name
    }

    /// The change of one path.
    ///
    /// - Throws: ``ServiceError`` with the code of a bad path or a bad operand.
    func change(
        _ key: String,
        _ value: BSONValue,
        _ budget: ParseBudget
    ) throws(ServiceError) -> UpdateChange {
        let path = try UpdatePathParser.path(key)
        return UpdateChange(path: path, action: try action(path, key, value, budget))
    }

    private func action(
        _ path: UpdatePath,
        _ key: String,
        _ value: BSONValue,
        _ budget: ParseBudget
    ) throws(ServiceError) -> UpdateAction {
        switch name {
        case .set: return .set(value)
        case .unset: return .unset
        case .increment: return .increment(try number(key, value, verb: "increment"))
        case .multiply: return .multiply(try number(key, value, verb: "multiply"))
        case .minimum: return .minimum(value)
        case .maximum: return .maximum(value)
        case .rename: return .rename(to: try renameTarget(path, key, value))
        case .setOnInsert: return .setOnInsert(value)
        case .currentDate: return .currentDate(try dateType(value))
        case .push: return .push(try PushParser.arguments(value))
        case .addToSet: return .addToSet(try setElements(value))
        case .pop: return .pop(try popEnd(key, value))
        case .pull: return .pull(try PullParser.condition(value, path: key, budget))
        case .pullAll:
            guard case .array(let elements) = value else {
                throw .mongo(
                    .badValue,
                    "$pullAll requires an array argument but was given a \(known: TypeName.of(value))"
                )
            }
            return .pullAll(elements)
        case .bit: return .bit(try BitOperandParser.operations(key, value))
        }
    }

    private func number(_ key: String, _ value: BSONValue, verb: String) throws(ServiceError) -> BSONValue {
        guard value.isNumber else {
            throw .mongo(
                .typeMismatch,
                "Cannot \(verb) with non-numeric argument: {\(key): \(MongoShellText.describe(value))}"
            )
        }
        return value
    }

    private func renameTarget(
        _ source: UpdatePath,
        _ key: String,
        _ value: BSONValue
    ) throws(ServiceError) -> UpdatePath {
        guard case .string(let text) = value else {
            throw .mongo(
                .badValue,
                "The 'to' field for $rename must be a string: \(key): \(MongoShellText.describe(value))"
            )
        }
        if text.utf8.contains(0) {
            throw .mongo(9_867_600, "The 'to' field for $rename cannot contain an embedded null byte")
        }
        let target = try UpdatePathParser.path(text)
        if source == target {
            throw .mongo(
                .badValue,
                "The source and target field for $rename must differ: \(key): \"\(text)\""
            )
        }
        if source.isPositional {
            throw .mongo(.badValue, "The source field for $rename may not be dynamic: \(key)")
        }
        if target.isPositional {
            throw .mongo(.badValue, "The destination field for $rename may not be dynamic: \(text)")
        }
        if source.components.starts(with: target.components)
            || target.components.starts(with: source.components)
        {
            throw .mongo(
                .badValue,
                "The source and target field for $rename must not be on the same path: \(key): \"\(text)\""
            )
        }
        return target
    }

    private func dateType(_ value: BSONValue) throws(ServiceError) -> CurrentDateType {
        switch value {
        case .bool: return .date
        case .document(let document):
            for field in document where field.key != "$type" {
                throw .mongo(.badValue, "Unrecognized $currentDate option: \(field.key)")
            }
            switch document["$type"] {
            case .string("date")?: return .date
            case .string("timestamp")?: return .timestamp
            default:
                throw .mongo(
                    .badValue,
                    "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}"
                )
            }
        default:
            throw .mongo(
                .badValue,
                "\(known: TypeName.of(value)) is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'})."
            )
        }
    }

    /// The values of `$addToSet`, from `5` or `{$each: [5, 6]}`.
    private func setElements(_ value: BSONValue) throws(ServiceError) -> [BSONValue] {
        guard case .document(let document) = value, document.firstKey == "$each",
            let operand = document["$each"]
        else { return [value] }
        guard case .array(let elements) = operand else {
            throw .mongo(
                .typeMismatch,
                "The argument to $each in $addToSet must be an array but it was of type \(known: TypeName.of(operand))"
            )
        }
        if document.count > 1 {
            throw .mongo(
                .badValue,
                "Found unexpected fields after $each in $addToSet: \(MongoShellText.describe(value))"
            )
        }
        return elements
    }

    private func popEnd(_ key: String, _ value: BSONValue) throws(ServiceError) -> PopEnd {
        guard value.isNumber else {
            throw .mongo(
                .failedToParse,
                "Expected a number in: \(key): \(MongoShellText.describe(value))"
            )
        }
        switch value.exactInt64 {
        case 1: return .last
        case -1: return .first
        default:
            throw .mongo(
                .failedToParse,
                "$pop expects 1 or -1, found: \(MongoShellText.describe(value))"
            )
        }
    }
}
