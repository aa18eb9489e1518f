internal import Errors

/// What is said of U+0000, which PostgreSQL's text cannot hold: in which field it is.
enum StoredNUL {
    static func refusal(at path: String?) -> ServiceError {
        let place = path.map { $0.isEmpty ? "" : " (field '\($0)')" } ?? ""
        return ServiceError(
            .invalidParameter,
            "a string with a NUL character (U+0000) cannot be stored\(place)",
            serverCode: .badValue
        )
    }

    /// The refusal of a value, with the field's path where there is one; it is looked for only when a value was refused.
    static func named(_ refusal: ServiceError, in value: BSONValue) -> ServiceError {
        path(in: value).map { self.refusal(at: $0) } ?? refusal
    }

    /// The dotted path of the first text with U+0000, empty for the value itself; a name that has one is shown without.
    private static func path(in value: BSONValue) -> String? {
        switch value {
        case .string(let text), .code(let text), .symbol(let text): isIn(text) ? "" : nil
        case .regex(let regex): isIn(regex.pattern) || isIn(regex.options) ? "" : nil
        case .dbPointer(let pointer): isIn(pointer.namespace) ? "" : nil
        case .codeWithScope(let code): isIn(code.code) ? "" : path(in: .document(code.scope))
        case .document(let document):
            first(document.fields.lazy.map { ($0.key, $0.value) })
        case .array(let elements):
            first(elements.enumerated().lazy.map { (String($0.offset), $0.element) })
        default: nil
        }
    }

    private static func first(_ parts: some Sequence<(String, BSONValue)>) -> String? {
        for (name, part) in parts {
            if isIn(name) { return name.replacing("\0", with: "\u{FFFD}") }
            if let rest = path(in: part) { return rest.isEmpty ? name : name + "." + rest }
        }
        return nil
    }

    private static func isIn(_ text: String) -> Bool { text.utf8.contains(0) }
}
