import BSON
import Errors

/// Object operators.
extension OperatorEvaluator {
    func object(_ op: ExpressionOperator, _ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        switch op {
        case .mergeObjects:
            // One array stands for its elements.
            if values.count == 1, case .array(let elements)? = values[0] { return try Self.merge(elements) }
            return try Self.merge(values)
        case .objectToArray: return try objectToArray(values[0])
        default: return try arrayToObject(values[0])
        }
    }

    /// Later fields win in the place of the first; null and missing are passed over.
    static func merge(_ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        var merged = OrderedFields()
        for case let value? in values where !value.isNullish {
            guard case .document(let document) = value else {
                throw .mongo(
                    40400,
                    "$mergeObjects requires object inputs, but input \(MessageText.of(value)) is of type \(known: TypeName.of(value))"
                )
            }
            for field in document { merged.set(field.key, field.value) }
        }
        return .document(merged.document)
    }

    private func objectToArray(_ value: BSONValue?) throws(ServiceError) -> BSONValue {
        guard let value, !value.isNullish else { return .null }
        guard case .document(let document) = value else {
            throw .mongo(
                40390,
                "$objectToArray requires a document input, found: \(known: TypeName.of(value))"
            )
        }
        return .array(document.fields.map { ["k": .string($0.key), "v": $0.value] })
    }

    /// `[[k, v], …]` or `[{k, v}, …]`, never mixed; the last of equal keys wins.
    private func arrayToObject(_ value: BSONValue?) throws(ServiceError) -> BSONValue {
        guard let value, !value.isNullish else { return .null }
        guard case .array(let elements) = value else {
            throw .mongo(40386, "$arrayToObject requires an array input, found: \(known: TypeName.of(value))")
        }
        var fields = OrderedFields()
        var firstIsPair: Bool?
        for element in elements {
            let entry: BSONDocument.Field
            switch element {
            case .array(let pair):
                if firstIsPair == false {
                    throw .mongo(
                        40391,
                        "$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. Object was detected, now found: array"
                    )
                }
                firstIsPair = true
                entry = try keyValue(pair)
            case .document(let object):
                if firstIsPair == true {
                    throw .mongo(
                        40396,
                        "$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. Array was detected, now found: object"
                    )
                }
                firstIsPair = false
                entry = try keyValue(object)
            default:
                if let firstIsPair {
                    throw .mongo(
                        firstIsPair ? 40396 : 40391,
                        "$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. Now found: \(known: TypeName.of(element))"
                    )
                }
                throw .mongo(
                    40398,
                    "Unrecognised input type format for $arrayToObject: \(known: TypeName.of(element))"
                )
            }
            fields.set(entry.key, entry.value)
        }
        return .document(fields.document)
    }

    private func keyValue(_ pair: [BSONValue]) throws(ServiceError) -> BSONDocument.Field {
        guard pair.count == 2 else {
            throw .mongo(
                40397,
                "$arrayToObject requires an array of size 2 arrays,found array of size: \(pair.count)"
            )
        }
        guard case .string(let key) = pair[0] else {
            throw .mongo(
                40395,
                "$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: \(known: TypeName.of(pair[0]))"
            )
        }
        if key.utf8.contains(0) { throw .mongo(4_940_400, "Key field cannot contain an embedded null byte") }
        return BSONDocument.Field(key: key, value: pair[1])
    }

    private func keyValue(_ object: BSONDocument) throws(ServiceError) -> BSONDocument.Field {
        guard object.count == 2 else {
            throw .mongo(
                40392,
                "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:\(object.count)"
            )
        }
        guard let name = object["k"], let value = object["v"] else {
            throw .mongo(40393, "$arrayToObject requires an object with keys 'k' and 'v'.")
        }
        guard case .string(let key) = name else {
            throw .mongo(
                40394,
                "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: \(known: TypeName.of(name))"
            )
        }
        if key.utf8.contains(0) { throw .mongo(4_940_401, "Key field cannot contain an embedded null byte") }
        return BSONDocument.Field(key: key, value: value)
    }

    /// `$getField`: the name is taken as it is, dots and dollars included.
    func getField(_ operands: NamedOperands) throws(ServiceError) -> BSONValue? {
        let field = try operands.value("field")
        guard case .string(let name)? = field else {
            throw .mongo(
                3_041_704,
                "$getField requires 'field' to evaluate to type String, but got \(known: TypeName.of(field))"
            )
        }
        let input = try operands.value("input")
        guard let input else { return nil }
        if input.isNullish { return .null }
        return input.document?[name]
    }

    /// `$setField` and `$unsetField`; a missing value removes.
    func setField(_ op: ExpressionOperator, _ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let field = try operands.value("field")
        guard case .string(let name)? = field else {
            throw .mongo(
                4_161_107,
                "\(op.rawValue) requires 'field' to evaluate to type String, but got \(known: TypeName.of(field))"
            )
        }
        let input = try operands.value("input")
        let value = try operands.value("value")
        guard let input, !input.isNullish else { return .null }
        guard case .document(var document) = input else {
            throw .mongo(
                4_161_105,
                "\(op.rawValue) requires 'input' to evaluate to type Object, but got \(known: TypeName.of(input))"
            )
        }
        document[name] = value
        return .document(document)
    }
}

/// Fields that are set by name again and again, without searching for each.
struct OrderedFields {
    private(set) var document = BSONDocument()
    private var places: [ByteKey: Int] = [:]

    mutating func set(_ name: String, _ value: BSONValue) {
        let key = ByteKey(text: name)
        if let place = places[key] {
            document.fields[place].value = value
        } else {
            places[key] = document.count
            document.append(name, value)
        }
    }

    /// A name by its bytes; Swift would take equivalent spellings for one.
    private struct ByteKey: Hashable {
        let text: String

        static func == (left: ByteKey, right: ByteKey) -> Bool { TextOrder.equal(left.text, right.text) }

        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }
}
