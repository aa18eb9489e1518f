public import BSON

extension CollectionSchema {
    /// What is wrong with a document; empty when it may be written.
    ///
    /// - Parameters:
    ///   - document: The document after the change.
    ///   - previous: The document before the change; nil for an insert.
    ///   - options: How null is taken.
    ///   - condition: Decides a `validate` expression; it is asked also for a field that the change
    ///     removed. Without it a schema that has such expressions refuses, since nobody can tell.
    /// - Returns: At most ``SchemaValidator/violationLimit`` violations.
    public func violations(
        _ document: BSONDocument,
        previous: BSONDocument? = nil,
        options: SchemaOptions = SchemaOptions(),
        condition: ((SchemaSite) -> Bool)? = nil
    ) -> [SchemaViolation] {
        guard !isUnconstrained else { return [] }
        var validator = SchemaValidator(options: options, checksStructure: true, condition: condition)
        validator.check(.document(document), previous.map { .document($0) }, root, "(root)")
        return validator.violations
    }

    /// The `validate` expressions that fail on a document, its structure unchecked: what a delete
    /// asks, since a document that never fitted must not become undeletable.
    public func failedConditions(
        _ document: BSONDocument,
        previous: BSONDocument?,
        condition: (SchemaSite) -> Bool
    ) -> [SchemaViolation] {
        guard hasValidate else { return [] }
        return withoutActuallyEscaping(condition) { condition in
            var validator = SchemaValidator(
                options: SchemaOptions(),
                checksStructure: false,
                condition: condition
            )
            validator.check(.document(document), previous.map { .document($0) }, root, "(root)")
            return validator.violations
        }
    }
}

/// Walks a value and its schema together.
///
/// Null: an optional field that is null is checked like any other value, so it passes only where
/// its types allow null, or when the app's setting skips it; a required field must not be null.
/// Source: `rules.md` §14.3.
struct SchemaValidator {
    /// More violations than this tell nobody more.
    static let violationLimit = 50

    let options: SchemaOptions
    let checksStructure: Bool
    let condition: ((SchemaSite) -> Bool)?
    private(set) var violations: [SchemaViolation] = []

    init(options: SchemaOptions, checksStructure: Bool, condition: ((SchemaSite) -> Bool)?) {
        self.options = options
        self.checksStructure = checksStructure
        self.condition = condition
    }

    mutating func fail(_ path: String, _ code: SchemaViolation.Code, _ message: String) {
        guard violations.count < Self.violationLimit else { return }
        violations.append(SchemaViolation(path: path, code: code, message: message))
    }

    /// Checks one value; nil is an absent one, of which only `validate` may say something.
    mutating func check(
        _ value: BSONValue?,
        _ previous: BSONValue?,
        _ node: SchemaNode,
        _ path: String,
        structure: Bool = true
    ) {
        guard violations.count < Self.violationLimit else { return }
        if let validate = node.validate {
            let site = SchemaSite(validate: validate, value: value, previous: previous, path: path)
            if condition?(site) != true { fail(path, .conditionFailed, "'validate' does not hold") }
        }
        guard checksStructure || node.hasValidate else { return }
        if checksStructure, structure, let value { checkValue(value, node, path) }
        switch (value, previous) {
        case (.document(let document)?, _):
            checkDocument(document, previous?.document, node, path)
        case (.array(let elements)?, _):
            checkArray(elements, previous?.array ?? [], node, path)
        case (_, .document(let document)?) where node.hasValidate:
            // The embedded document is gone: its fields' conditions hear of the removal.
            for property in node.properties where property.node.hasValidate {
                if let before = document[property.name] {
                    check(nil, before, property.node, "\(path).\(property.name)")
                }
            }
        default:
            break
        }
    }

    private mutating func checkDocument(
        _ document: BSONDocument,
        _ previous: BSONDocument?,
        _ node: SchemaNode,
        _ path: String
    ) {
        let before = FieldIndex(previous ?? BSONDocument())
        let now = FieldIndex(document)
        if checksStructure { checkKeys(document, now, node, path) }
        for property in node.properties {
            let value = now[property.name]
            let old = before[property.name]
            guard value != nil || old != nil else { continue }
            let structure = value.map { !($0.isNull && skipsNull(property.name, node)) } ?? true
            check(value, old, property.node, "\(path).\(property.name)", structure: structure)
        }
        let concernsOthers = if case .allowed = node.additionalProperties { false } else { true }
        guard concernsOthers || !node.patternProperties.isEmpty else { return }
        for field in document {
            checkUnnamed(field, before[field.key], node, path)
        }
    }

    /// Whether the app's setting lets an optional field be null; a required one was refused by then.
    private func skipsNull(_ name: String, _ node: SchemaNode) -> Bool {
        options.allowsNullForOptionalFields || node.requiredNames.contains(FieldName(name))
    }

    /// A key against `patternProperties` and `additionalProperties`.
    private mutating func checkUnnamed(
        _ field: BSONDocument.Field,
        _ previous: BSONValue?,
        _ node: SchemaNode,
        _ path: String
    ) {
        let here = "\(path).\(field.key)"
        var isKnown = node.propertyIndex[FieldName(field.key)] != nil
        let structure = !(field.value.isNull && options.allowsNullForOptionalFields)
        for entry in node.patternProperties {
            switch SchemaPattern.isFound(entry.pattern, in: field.key) {
            case true?:
                isKnown = true
                check(field.value, previous, entry.node, here, structure: structure)
            case false?: break
            case nil: fail(here, .internal, "the pattern of the key could not be decided")
            }
        }
        guard !isKnown else { return }
        switch node.additionalProperties {
        case .allowed: break
        case .refused:
            if checksStructure { fail(here, .additionalPropertyNotAllowed, "no such property is declared") }
        case .schema(let child):
            check(field.value, previous, child, here, structure: structure)
        }
    }

    /// `required`, the number of properties, and `dependencies`.
    private mutating func checkKeys(
        _ document: BSONDocument,
        _ fields: FieldIndex,
        _ node: SchemaNode,
        _ path: String
    ) {
        for name in node.required {
            guard let value = fields[name], !value.isNull else {
                fail("\(path).\(name)", .required, "the field is required")
                continue
            }
        }
        if let least = node.minProperties, document.count < least {
            fail(path, .arrayMinProperties, "must have at least \(least) fields")
        }
        if let most = node.maxProperties, document.count > most {
            fail(path, .arrayMaxProperties, "must have at most \(most) fields")
        }
        for (key, dependency) in node.dependencies where fields[key] != nil {
            switch dependency {
            case .keys(let names):
                for name in names where fields[name] == nil {
                    fail("\(path).\(name)", .missingDependency, "'\(key)' needs '\(name)'")
                }
            case .schema(let child):
                check(.document(document), nil, child, path)
            }
        }
    }

    private mutating func checkArray(
        _ elements: [BSONValue],
        _ previous: [BSONValue],
        _ node: SchemaNode,
        _ path: String
    ) {
        switch node.items {
        case .any: break
        case .all(let child):
            guard child.constrains || child.hasValidate else { return }
            for (index, element) in elements.enumerated() {
                let old = previous.dropFirst(index).first
                check(element, old, child, "\(path).\(index)")
            }
        case .tuple(let children, let rest):
            for (index, element) in elements.enumerated() {
                let old = previous.dropFirst(index).first
                if index < children.count {
                    check(element, old, children[index], "\(path).\(index)")
                } else if case .schema(let child) = rest {
                    check(element, old, child, "\(path).\(index)")
                } else if case .refused = rest {
                    if checksStructure {
                        fail(path, .arrayNoAdditionalItems, "must have at most \(children.count) items")
                    }
                    return
                }
            }
        }
    }
}
