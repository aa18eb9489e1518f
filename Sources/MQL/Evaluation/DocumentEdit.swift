import BSON
import Errors

/// Changes of documents as pipeline stages make them: paths go through every array.
enum DocumentEdit {
    /// `$addFields`: all expressions see the document as it came.
    static func assign(
        _ assignments: [(path: FieldPath, expression: AggregationExpression)],
        to document: BSONDocument,
        _ context: EvaluationContext
    ) throws(ServiceError) -> BSONDocument {
        var result = document
        var size = ValueSize.Sum(context.meter)
        for assignment in assignments {
            let value = try assignment.expression.evaluate(document, context)
            if let value { try size.add(value) }
            result = set(assignment.path.components[...], in: result, to: value)
        }
        return result
    }

    /// Sets the value at a path; a missing one removes what is there.
    ///
    /// Objects on the way are made where they lack, also in place of scalars and of each element
    /// of an array.
    static func set(_ path: ArraySlice<String>, in document: BSONDocument, to value: BSONValue?)
        -> BSONDocument
    {
        guard let name = path.first else { return document }
        var copy = document
        let rest = path.dropFirst()
        copy[name] = rest.isEmpty ? value : set(rest, inValue: document[name], to: value)
        return copy
    }

    private static func set(_ path: ArraySlice<String>, inValue current: BSONValue?, to value: BSONValue?)
        -> BSONValue
    {
        switch current {
        case .document(let document): .document(set(path, in: document, to: value))
        case .array(let elements): .array(elements.map { set(path, inValue: $0, to: value) })
        default: .document(set(path, in: BSONDocument(), to: value))
        }
    }

    /// Sets a value at a path that no array interrupts, making objects on the way.
    static func setDirectly(_ path: ArraySlice<String>, in document: BSONDocument, to value: BSONValue?)
        -> BSONDocument
    {
        guard let name = path.first else { return document }
        var copy = document
        let rest = path.dropFirst()
        copy[name] =
            rest.isEmpty
            ? value
            : .document(setDirectly(rest, in: document[name]?.document ?? BSONDocument(), to: value))
        return copy
    }

    /// Removes a path, in every element of the arrays on the way.
    static func remove(_ path: ArraySlice<String>, from document: BSONDocument) -> BSONDocument {
        guard let name = path.first, let current = document[name] else { return document }
        var copy = document
        let rest = path.dropFirst()
        // `nil` beside a `BSONValue` would be read as BSON's null.
        if rest.isEmpty { return document.removing(name) }
        copy[name] = remove(rest, fromValue: current)
        return copy
    }

    private static func remove(_ path: ArraySlice<String>, fromValue value: BSONValue) -> BSONValue {
        switch value {
        case .document(let document): .document(remove(path, from: document))
        case .array(let elements): .array(elements.map { remove(path, fromValue: $0) })
        default: value
        }
    }

    /// The document that `$replaceRoot` puts in the place of another.
    static func replaceRoot(
        _ expression: AggregationExpression,
        _ document: BSONDocument,
        _ context: EvaluationContext
    ) throws(ServiceError) -> BSONDocument {
        let value = try expression.evaluate(document, context)
        guard case .document(let root)? = value else {
            throw .mongo(
                40228,
                "'newRoot' expression must evaluate to an object, but resulting value was: \(MessageText.of(value)). Type of resulting value: '\(known: TypeName.of(value))'."
            )
        }
        return root
    }
}
