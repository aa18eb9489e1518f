import BSON
import Errors

/// Reads the paths of updates.
enum UpdatePathParser {
    /// How many components a path may have: documents are not nested deeper.
    static let maximumComponents = DocumentLimits.maximumDepth

    /// Splits a path and recognises `$`, `$[]` and `$[id]`.
    ///
    /// A top-level name with `$` is one that only an upsert may bring into being; see ``UpdateEvaluator``.
    ///
    /// - Throws: ``ServiceError`` with server code 56 (an empty name), 15 (too long) or 2 (positional components out
    ///   of place).
    static func path(_ text: String) throws(ServiceError) -> UpdatePath {
        if text.isEmpty { throw .mongo(.emptyFieldName, "An empty update path is not valid.") }
        let names = text.pathComponents
        if names.contains(where: \.isEmpty) {
            throw .mongo(
                .emptyFieldName,
                "The update path '\(MessageText.shortened(text))' contains an empty field name, which is not allowed."
            )
        }
        if names.count > maximumComponents {
            throw .mongo(
                .overflow,
                "The update path '\(MessageText.shortened(text))' exceeds the maximum nesting depth of \(maximumComponents)"
            )
        }
        var components: [UpdatePath.Component] = []
        components.reserveCapacity(names.count)
        for name in names { components.append(try component(name, in: text)) }
        try checkPositions(components, text)
        return UpdatePath(components: components)
    }

    private static func component(_ name: String, in text: String) throws(ServiceError)
        -> UpdatePath.Component
    {
        if name == "$" { return .matched }
        if name == "$[]" { return .all }
        guard name.hasPrefix("$["), name.hasSuffix("]") else { return .name(name) }
        let identifier = String(name.dropFirst(2).dropLast())
        guard ArrayFilterParser.isIdentifier(identifier) else {
            throw .mongo(
                .badValue,
                "Invalid array filter identifier '\(identifier)' in path '\(text)': it must be an alphanumeric string beginning with a lowercase letter"
            )
        }
        return .filtered(identifier)
    }

    private static func checkPositions(
        _ components: [UpdatePath.Component],
        _ text: String
    ) throws(ServiceError) {
        guard let first = components.first else { return }
        guard case .name = first else {
            throw .mongo(
                .badValue,
                "Cannot have positional (i.e. '$') element in the first position in path '\(text)'"
            )
        }
        if components.count(where: { $0 == .matched }) > 1 {
            throw .mongo(
                .badValue,
                "Too many positional (i.e. '$') elements found in path '\(text)'"
            )
        }
    }
}
