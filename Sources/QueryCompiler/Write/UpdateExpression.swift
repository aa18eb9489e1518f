import BSON
import MQL
import SQL

/// An update as SQL over the row of a document (`doc`, `shape`), grown change by change.
struct UpdateExpression {
    /// The new document; NULL where a value could not be computed.
    private(set) var document: SQLFragment = "doc"
    /// All must hold (NULL is false), or the gateway has to compute.
    var guards: [SQLFragment] = []
    /// What happens to the order of keys.
    private(set) var shapeSteps: [ShapeStep] = []
    /// Holds when no step changes anything; nil when some step always does.
    private(set) var keepsOrder: [SQLFragment]? = []
    /// The paths that change.
    private(set) var touched: [Change] = []
    /// Whether there are documents for which the new one is NULL.
    private(set) var mayFail = false

    /// A path that changes.
    struct Change {
        let path: [String]
        /// The new value there, where it is known without the new document.
        var value: SQLFragment?
    }

    /// The stored value at a path; changes never overlap, so the old document is as good as the new.
    static func current(_ path: [String]) -> SQLFragment {
        path.count == 1 ? "doc -> \(bind: .text(path[0]))" : "doc #> \(bind: .textArray(path))"
    }

    /// How many bytes the update can add to a document.
    private(set) var boundBytes = 0

    /// Whether a filter looks at a field that changes; for all that is known it may, where it has an expression.
    func touches(_ filter: Filter) -> Bool {
        switch filter {
        case .all, .nothing: false
        case .and(let filters), .or(let filters), .nor(let filters): filters.contains(where: touches)
        case .field(let path, _): touched.contains { $0.path.first == path.components.first }
        case .expression, .schema, .text: true
        }
    }

    /// Adds `{$set: {path: value}}`; false when the value cannot be stored as it is.
    mutating func set(_ value: BSONValue, at path: [String]) -> Bool {
        guard let bytes = StoredText.bytes(value) else { return false }
        requireParents(of: path)
        if path.count == 1 {
            var object: [UInt8] = []
            guard let text = StoredText.bytes(.string(path[0])) else { return false }
            object = [UInt8(ascii: "{")] + text + [UInt8(ascii: ":")] + bytes + [UInt8(ascii: "}")]
            document += " || \(bind: .jsonb(object))"
            document = "(\(document))"
        } else {
            document = "jsonb_set(\(document), \(bind: .textArray(path)), \(bind: .jsonb(bytes)))"
        }
        boundBytes += bytes.count
        touched.append(Change(path: path, value: path.count == 1 ? "\(bind: .jsonb(bytes))" : nil))
        addStep(ShapeStep(path: path, value: value))
        return true
    }

    /// Adds `{$unset: {path: …}}`.
    mutating func unset(_ path: [String]) {
        allowMissingParents(of: path)
        remove(path, touching: path)
    }

    /// Removes a path of the document or an element of an array.
    mutating func remove(_ path: [String], touching field: [String]) {
        document = "(\(document) #- \(bind: .textArray(path)))"
        touched.append(Change(path: field))
    }

    /// Puts a computed value, without documents inside, at a path.
    mutating func replace(_ path: [String], with value: SQLFragment, adding bytes: Int = 64) {
        boundBytes += bytes
        document = "jsonb_set(\(document), \(bind: .textArray(path)), \(value))"
        touched.append(Change(path: path, value: path.count == 1 ? value : nil))
        mayFail = true
        addStep(ShapeStep(path: path, value: .null))
    }

    private mutating func addStep(_ step: ShapeStep) {
        shapeSteps.append(step)
        if step.order == nil { keepsOrder?.append(Self.exists(step.path)) } else { keepsOrder = nil }
    }

    /// A step as SQL: its name, or NULL where it changes nothing.
    private static func text(of step: ShapeStep) -> SQLFragment {
        let exists = exists(step.path)
        let added: SQLFragment = .bind(.text(step.text(isNew: true)))
        guard step.order != nil else { return "CASE WHEN NOT \(exists) THEN \(added) END" }
        return "CASE WHEN \(exists) THEN \(bind: .text(step.text(isNew: false))) ELSE \(added) END"
    }

    private static func exists(_ path: [String]) -> SQLFragment {
        path.count == 1
            ? "(doc ? \(bind: .text(path[0])))" : "((doc #> \(bind: .textArray(path))) IS NOT NULL)"
    }

    /// Every step before the last must be a document that is there: making parents, indexing arrays and
    /// refusing scalars are the gateway's.
    mutating func requireParents(of path: [String]) {
        for parent in parents(of: path) {
            guards.append("(jsonb_typeof(\(parent)) = 'object' AND NOT \(parent) ?| \(Self.wrapperKeys))")
        }
    }

    /// As ``requireParents(of:)``, where a missing parent means that there is nothing to do.
    mutating func allowMissingParents(of path: [String]) {
        for parent in parents(of: path) {
            guards.append(
                "(\(parent) IS NULL OR (jsonb_typeof(\(parent)) = 'object' AND NOT \(parent) ?| \(Self.wrapperKeys)))"
            )
        }
    }

    private func parents(of path: [String]) -> [SQLFragment] {
        (1..<max(path.count, 1)).map { "(\(Self.current(Array(path[..<$0]))))" }
    }

    /// The keys of objects that stand for one value.
    private static let wrapperKeys: SQLFragment = """
        ARRAY['$oid', '$date', '$uuid', '$numberDouble', '$numberDecimal', '$numberInt', '$numberLong', \
        '$binary', '$regularExpression', '$timestamp', '$code', '$symbol', '$dbPointer', '$undefined', \
        '$minKey', '$maxKey', '$document']
        """

    /// The shape of the new document; NULL where a step was never taken before.
    func shape(collection: Int32) -> SQLFragment {
        guard !shapeSteps.isEmpty else { return "shape" }
        let next = DatabaseFunctions.nextShape(
            collection: collection,
            shape: "shape",
            steps: shapeSteps.map(Self.text)
        )
        guard let keepsOrder, !keepsOrder.isEmpty else {
            return "CASE WHEN shape = 0 THEN 0 ELSE \(next) END"
        }
        return
            "CASE WHEN shape = 0 OR (\(.joined(keepsOrder, separator: " AND "))) THEN shape ELSE \(next) END"
    }

    /// Whether the update changed anything, given the old and the new document.
    ///
    /// Texts are compared, because `5` and `5.0` are equal as jsonb.
    func changed(from old: SQLFragment, to new: SQLFragment) -> SQLFragment {
        Self.any(touched.map { Self.differs(Self.value($0.path, in: old), Self.value($0.path, in: new)) })
    }

    /// Whether the update changes anything in `doc`.
    ///
    /// - Parameter new: The new document; not computed where the new values are known, and fit every document.
    /// - Returns: A condition.
    func changesRow(to new: SQLFragment) -> SQLFragment {
        Self.any(
            touched.map { change in
                let known = guards.isEmpty ? change.value.map { "(\($0))" as SQLFragment } : nil
                return Self.differs(
                    Self.value(change.path, in: "doc"),
                    known ?? Self.value(change.path, in: "(\(new))")
                )
            }
        )
    }

    private static func value(_ path: [String], in document: SQLFragment) -> SQLFragment {
        path.count == 1
            ? "(\(document) -> \(bind: .text(path[0])))" : "(\(document) #> \(bind: .textArray(path)))"
    }

    private static func differs(_ old: SQLFragment, _ new: SQLFragment) -> SQLFragment {
        "\(old)::text IS DISTINCT FROM \(new)::text"
    }

    private static func any(_ tests: [SQLFragment]) -> SQLFragment {
        tests.isEmpty ? "false" : "(\(.joined(tests, separator: " OR ")))"
    }
}
