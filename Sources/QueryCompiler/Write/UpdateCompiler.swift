import BSON
import Errors
import MQL
import SQL

/// Turns an update document into one SQL expression over `doc`.
///
/// Shape: `{$set: {a: 1}, $inc: {"b.c": 2}}` becomes
/// `jsonb_set(doc || $1, $2, tidegate.combine_numbers(doc #> $2, $3, false))`.
///
/// Only what gives the evaluator's answer in every document is compiled; where that depends on the
/// document, ``UpdateExpression/guards`` says for which it does, and the rest is the gateway's (compare and swap).
///
/// Source: storage-study §6; `reference/mql.md` §6.
struct UpdateCompiler {
    /// Milliseconds since 1970, for `$currentDate`.
    let now: Int64

    /// nil: the gateway has to compute the new document.
    func compile(_ update: Update) -> UpdateExpression? {
        guard case .operators(let changes, let arrayFilters) = update, arrayFilters.isEmpty else {
            return nil
        }
        var result = UpdateExpression()
        for change in changes {
            if case .setOnInsert = change.action { continue }
            guard let path = change.path.literal?.components, isServed(path),
                add(change.action, at: path, to: &result)
            else { return nil }
        }
        return result
    }

    /// `_id` and names that belong to wrappers are the gateway's; so are paths that PostgreSQL cannot hold.
    private func isServed(_ path: [String]) -> Bool {
        path.count <= 100 && path[0] != "_id"
            && path.allSatisfy { !$0.isEmpty && $0.utf8.first != UInt8(ascii: "$") && !$0.utf8.contains(0) }
    }

    private func add(_ action: UpdateAction, at path: [String], to result: inout UpdateExpression) -> Bool {
        switch action {
        case .set(let value):
            return result.set(value, at: path)
        case .currentDate(.date):
            return result.set(.date(now), at: path)
        case .unset:
            result.unset(path)
            return true
        case .increment(let operand):
            return combine(operand, at: path, multiplies: false, to: &result)
        case .multiply(let operand):
            return combine(operand, at: path, multiplies: true, to: &result)
        case .minimum(let candidate):
            return choose(candidate, at: path, greater: false, to: &result)
        case .maximum(let candidate):
            return choose(candidate, at: path, greater: true, to: &result)
        case .push(let arguments):
            guard arguments.position == nil, arguments.slice == nil, arguments.sort == nil,
                let elements = StoredText.plain(.array(arguments.elements))
            else { return false }
            result.requireParents(of: path)
            let current = UpdateExpression.current(path)
            result.guards.append("coalesce(jsonb_typeof(\(current)) = 'array', true)")
            // An array grows with every push, so its document's size is looked at each time.
            result.replace(
                path,
                with: "coalesce(\(current), '[]') || \(bind: .jsonb(elements))",
                adding: .max / 1024
            )
            return true
        case .addToSet(let elements):
            return addToSet(elements, at: path, to: &result)
        case .pop(let end):
            result.allowMissingParents(of: path)
            result.guards.append("coalesce(jsonb_typeof(\(UpdateExpression.current(path))) = 'array', true)")
            result.remove(path + [end == .first ? "0" : "-1"], touching: path)
            return true
        case .currentDate(.timestamp), .rename, .setOnInsert, .pull, .pullAll, .bit:
            return false
        }
    }

    private func combine(
        _ operand: BSONValue,
        at path: [String],
        multiplies: Bool,
        to result: inout UpdateExpression
    ) -> Bool {
        let zero: BSONValue
        switch operand {
        case .int32: zero = .int32(0)
        case .int64: zero = .int64(0)
        case .double(let number) where number.isFinite && !(number == 0 && number.sign == .minus):
            zero = .double(0)
        default: return false
        }
        guard let initial = StoredText.plain(multiplies ? zero : operand),
            let bytes = StoredText.plain(operand)
        else {
            return false
        }
        result.requireParents(of: path)
        let current = UpdateExpression.current(path)
        let combined = DatabaseFunctions.combine(current, .bind(.jsonb(bytes)), multiplies: multiplies)
        result.replace(
            path,
            with: "CASE WHEN \(current) IS NULL THEN \(bind: .jsonb(initial)) ELSE \(combined) END"
        )
        return true
    }

    private func choose(
        _ candidate: BSONValue,
        at path: [String],
        greater: Bool,
        to result: inout UpdateExpression
    ) -> Bool {
        guard let bytes = StoredText.plain(candidate) else { return false }
        result.requireParents(of: path)
        let current = UpdateExpression.current(path)
        let chosen = DatabaseFunctions.choose(current, .bind(.jsonb(bytes)), greater: greater)
        result.replace(
            path,
            with: "CASE WHEN \(current) IS NULL THEN \(bind: .jsonb(bytes)) ELSE \(chosen) END",
            adding: bytes.count
        )
        return true
    }

    private func addToSet(_ elements: [BSONValue], at path: [String], to result: inout UpdateExpression)
        -> Bool
    {
        var seen: Set<BSONKey> = []
        let current: SQLFragment = "coalesce(\(UpdateExpression.current(path)), '[]')"
        var sum = current
        for element in elements {
            switch element {
            case .string, .bool, .date, .objectID, .int32, .int64: break
            case .double(let number) where number.isFinite && number != 0: break
            default: return false
            }
            guard seen.insert(BSONKey(element)).inserted else { continue }
            guard let one = StoredText.plain(.array([element])) else { return false }
            sum += " || CASE WHEN \(current) @> \(bind: .jsonb(one)) THEN '[]' ELSE \(bind: .jsonb(one)) END"
        }
        result.requireParents(of: path)
        result.guards.append("jsonb_typeof(\(current)) = 'array'")
        // Equal values in another stored form, which containment does not see.
        result.guards.append(
            """
            NOT coalesce(\(current) @@ 'exists($[*]."$numberDecimal") || exists($[*]."$numberDouble") \
            || exists($[*]."$symbol")', false)
            """
        )
        result.replace(path, with: sum, adding: .max / 1024)
        return true
    }
}

/// Stored forms that an expression may bind.
enum StoredText {
    /// The jsonb text of a value without documents inside, which has no order of keys to keep; else nil.
    static func plain(_ value: BSONValue) -> [UInt8]? {
        order(of: value) == nil ? bytes(value) : nil
    }

    /// The jsonb text; nil for what PostgreSQL cannot hold.
    static func bytes(_ value: BSONValue) -> [UInt8]? {
        var bytes: [UInt8] = []
        do throws(ServiceError) { try StoredForm.write(value, to: &bytes) } catch { return nil }
        return bytes
    }

    /// The order of the keys inside a value; nil when there are none.
    static func order(of value: BSONValue) -> DocumentShape? {
        DocumentShape(of: ["": value]).child("")
    }
}
