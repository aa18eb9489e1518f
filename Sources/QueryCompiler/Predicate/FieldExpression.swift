import BSON
import SQL

/// The typed value of a field that has no column: the expression that an index is on.
///
/// PostgreSQL uses an index on an expression for the very same expression only: this is the Swift side of
/// `tidegate.typed_expression` and `tidegate.rest_expression`. Paths travel as binds, which are constants by the
/// time the statement is planned.
struct FieldExpression {
    let path: [String]
    let type: PromotedField.ValueType

    /// One plain value of the type; else NULL.
    var typed: SQLFragment {
        switch type {
        case .string, .objectId: "((\(plain)) COLLATE \"C\")"
        case .number, .integer, .date, .bool, .uuid: "(\(plain))"
        }
    }

    /// All values, where the typed one is not the only one; else NULL.
    var rest: SQLFragment {
        var conditions = (1..<path.count).map { length -> SQLFragment in
            "jsonb_typeof(doc #> \(bind: .textArray(Array(path[..<length])))) = 'array'"
        }
        conditions.append("coalesce(\(value), 'null'::jsonb) <> 'null'::jsonb")
        let all = "$" + path.map(JSONPathText.member).joined() + "[*]"
        return """
            (CASE WHEN (\(plain)) IS NULL AND (\(.joined(conditions, separator: " OR "))) \
            THEN jsonb_path_query_array(doc, \(bind: .jsonpath(all))) END)
            """
    }

    private var value: SQLFragment { "doc #> \(bind: .textArray(path))" }

    private func inside(_ wrapper: String) -> SQLFragment { .bind(.textArray(path + [wrapper])) }

    private var plain: SQLFragment {
        let text: SQLFragment = "doc #>> \(bind: .textArray(path))"
        switch type {
        case .string:
            return
                "CASE WHEN jsonb_typeof(\(value)) = 'string' AND octet_length(\(text)) <= 2000 THEN \(text) END"
        case .number, .integer:
            return "CASE WHEN jsonb_typeof(\(value)) = 'number' THEN (\(value))::numeric END"
        case .date:
            let date: SQLFragment = "doc #> \(inside("$date"))"
            return """
                CASE WHEN jsonb_typeof(\(date)) = 'number' \
                AND (\(date))::numeric BETWEEN -62135596800000 AND 253402300799999 \
                THEN to_timestamp((\(date))::float8 / 1000) END
                """
        case .objectId: return "doc #>> \(inside("$oid"))"
        case .bool: return "CASE WHEN jsonb_typeof(\(value)) = 'boolean' THEN (\(value))::boolean END"
        case .uuid:
            let digits: SQLFragment = "doc #>> \(inside("$uuid"))"
            return """
                CASE WHEN \(digits) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN (\(digits))::uuid END
                """
        }
    }
}
