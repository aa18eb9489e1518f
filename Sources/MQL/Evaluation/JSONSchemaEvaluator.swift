import BSON
import Errors

extension JSONSchema {
    /// Whether a value fits the schema.
    ///
    /// - Throws: ``ServiceError`` when a pattern reaches its bounds (51156) or the meter is spent (50).
    func accepts(_ value: BSONValue, _ meter: EvaluationMeter) throws(ServiceError) -> Bool {
        try meter.spend(keywords.count)
        for keyword in keywords where try !keyword.accepts(value, meter) { return false }
        return true
    }
}

extension JSONSchema.Keyword {
    fileprivate func accepts(_ value: BSONValue, _ meter: EvaluationMeter) throws(ServiceError) -> Bool {
        switch self {
        case .types(let types): return types.contains(value.type)
        case .values(let members):
            let sorted = value.withSortedFields
            try meter.spend(members.count)
            return members.contains { BSONOrdering.equal($0, sorted) }
        case .allOf(let schemas):
            for schema in schemas where try !schema.accepts(value, meter) { return false }
            return true
        case .anyOf(let schemas):
            for schema in schemas where try schema.accepts(value, meter) { return true }
            return false
        case .oneOf(let schemas):
            var count = 0
            for schema in schemas where try schema.accepts(value, meter) { count += 1 }
            return count == 1
        case .not(let schema): return try !schema.accepts(value, meter)
        default: break
        }
        return switch value {
        case .document(let document): try accepts(document, meter)
        case .array(let elements): try accepts(elements, meter)
        case .string(let text): try accepts(text)
        default: accepts(NumericValue(value))
        }
    }

    private func accepts(_ number: NumericValue?) -> Bool {
        guard let number else { return true }
        switch self {
        case .compare(let comparison, let bound): return ValueTests.compares(number.value, comparison, bound)
        case .multipleOf(let divisor):
            guard let divisor = NumericValue(divisor)?.decimalValue else { return false }
            return number.decimalValue.remainder(dividingBy: divisor).isZero
        default: return true
        }
    }

    private func accepts(_ text: String) throws(ServiceError) -> Bool {
        switch self {
        case .length(let range): range.contains(text.unicodeScalars.count)
        case .pattern(let pattern): try RegexMatcher.matches(pattern, text)
        default: true
        }
    }

    private func accepts(_ elements: [BSONValue], _ meter: EvaluationMeter) throws(ServiceError) -> Bool {
        switch self {
        case .items(let range): return range.contains(elements.count)
        case .uniqueItems:
            try meter.spend(elements.count)
            return Set(elements.map { BSONKey($0.withSortedFields) }).count == elements.count
        case .elements(let schema):
            for element in elements where try !schema.accepts(element, meter) { return false }
            return true
        case .tuple(let schemas, let rest):
            for (schema, element) in zip(schemas, elements) where try !schema.accepts(element, meter) {
                return false
            }
            guard let rest else { return true }
            for element in elements.dropFirst(schemas.count) where try !rest.accepts(element, meter) {
                return false
            }
            return true
        default: return true
        }
    }

    private func accepts(_ document: BSONDocument, _ meter: EvaluationMeter) throws(ServiceError) -> Bool {
        switch self {
        case .fields(let range): return range.contains(document.count)
        case .required(let names):
            let index = FieldIndex(of: document, lookups: names.count)
            return names.allSatisfy { index.place(of: $0, in: document) != nil }
        case .properties(let properties, let patterns, let rest):
            let index = FieldIndex(of: document, lookups: properties.count)
            for property in properties {
                guard let place = index.place(of: property.name, in: document) else { continue }
                if try !property.schema.accepts(document.fields[place].value, meter) { return false }
            }
            guard !patterns.isEmpty || rest != nil else { return true }
            let names = Set(properties.map { ByteText($0.name) })
            try meter.spend(document.count * (patterns.count + 1))
            for field in document {
                var isKnown = names.contains(ByteText(field.key))
                for entry in patterns where try RegexMatcher.matches(entry.pattern, field.key) {
                    isKnown = true
                    if try !entry.schema.accepts(field.value, meter) { return false }
                }
                if !isKnown, let rest, try !rest.accepts(field.value, meter) { return false }
            }
            return true
        case .dependency(let name, let schema):
            if document[name] == nil { return true }
            return try schema.accepts(.document(document), meter)
        default: return true
        }
    }
}

extension BSONValue {
    /// The value with the fields of its objects by name, for comparisons that their order does not concern.
    var withSortedFields: BSONValue {
        switch self {
        case .document(let document):
            var sorted = BSONDocument()
            for field in document.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                sorted.append(field.key, field.value.withSortedFields)
            }
            return .document(sorted)
        case .array(let elements): return .array(elements.map(\.withSortedFields))
        default: return self
        }
    }
}
