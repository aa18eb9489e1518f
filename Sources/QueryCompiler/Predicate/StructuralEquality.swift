import BSON
import SQL

/// Equality with a document, an array, or a rare type: containment, which finds every equal value and some
/// others (keys in another order, more keys), so that the evaluator decides.
struct StructuralEquality {
    let path: CandidatePath

    func compile(_ value: BSONValue, on document: SQLFragment) -> Condition {
        // Missing fields equal null; the path language has a form of its own for that.
        if value.isNull { return .unknown }
        var content = Content()
        guard content.add(value), let bytes = StoredText.bytes(.array([value])) else { return .unknown }
        var arms: [SQLFragment] = path.alternatives.flatMap { text -> [SQLFragment] in
            // The whole value, and its elements when it is an array.
            [text, text + "[*]"].map {
                "jsonb_path_query_array(\(document), \(bind: .jsonpath($0))) @> \(bind: .jsonb(bytes))"
            }
        }
        // Equal values that are stored in another form.
        if !content.relatives.isEmpty {
            let tests = content.relatives.sorted().flatMap { key in
                path.alternatives.map { "exists(\($0).**.\"\(key)\")" }
            }
            arms.append("\(document) @@ \(bind: .jsonpath(tests.joined(separator: " || ")))")
        }
        return .sql("(\(.joined(arms, separator: " OR ")))", isExact: false)
    }

    /// Which other stored forms could be equal to something in a value.
    private struct Content {
        var relatives: Set<String> = []

        /// - Returns: false when the value itself is written in a form that plain ones are equal to.
        mutating func add(_ value: BSONValue) -> Bool {
            switch value {
            case .double(let number):
                if number == 0, number.sign == .minus { return false }
                relatives.formUnion(["$numberDecimal", "$numberDouble"])
            case .int32, .int64: relatives.formUnion(["$numberDecimal", "$numberDouble"])
            case .string(let text):
                if text.utf8.contains(0) { return false }
                relatives.insert("$symbol")
            case .null: relatives.insert("$undefined")
            case .document(let document):
                // Keys like those of wrappers are stored behind an escape, which containment does not see through.
                for field in document {
                    if field.key.utf8.first == UInt8(ascii: "$") || field.key.utf8.contains(0)
                        || !add(field.value)
                    {
                        return false
                    }
                }
            case .array(let elements):
                for element in elements where !add(element) { return false }
            case .decimal128, .symbol, .undefined: return false
            case .binary, .objectID, .bool, .date, .regex, .dbPointer, .code, .codeWithScope, .timestamp,
                .minKey,
                .maxKey:
                break
            }
            return true
        }
    }
}
