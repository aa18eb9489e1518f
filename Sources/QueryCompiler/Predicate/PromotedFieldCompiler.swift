import BSON
import MQL
import SQL

/// Tests on a field with a typed column.
///
/// Shape: `{owner: "x"}` becomes `("owner" = $1 OR "owner[]" @> $2)`. The second column is nearly always NULL;
/// both arms have an index, and neither names `doc`, so that updates of other fields stay HOT.
struct PromotedFieldCompiler {
    let field: PromotedField
    /// Whether the column is taken to hold all values; the condition says so.
    var isTrusted = false

    /// Compiles one test on the field.
    ///
    /// - Parameters:
    ///   - test: The test, on the whole path.
    ///   - general: The same test on the document; decides for the values beside the typed column. Most tests do
    ///     not need it.
    ///   - document: The expression that gives the document.
    /// - Returns: nil when the column does not help.
    func compile(
        _ test: FieldTest,
        general: @autoclosure () -> Condition,
        on document: SQLFragment
    ) -> Condition? {
        switch test {
        case .compare(let op, let value):
            guard let operand = operand(value) else { return nil }
            if op == .equal, isTrusted {
                let text: SQLFragment = "\(field.equality) = \(operand)"
                return Condition(
                    terms: [field.isSpread ? .lookup(text) : .sql(text)],
                    isExact: true,
                    others: [field.rest]
                )
            }
            if op == .equal, let member = contained(value) {
                var arms: [SQLFragment] = [
                    "\(field.equality) = \(operand)", "\(field.rest) @> \(bind: .jsonb(member))",
                ]
                // A symbol equals the string of its text.
                if case .string(let text) = value, let symbol = contained(.symbol(text)) {
                    arms.append("\(field.rest) @> \(bind: .jsonb(symbol))")
                }
                return .sql("(\(.joined(arms, separator: " OR ")))")
            }
            if field.type == .bool, op != .equal { return nil }
            let typed = op == .equal ? field.equality : field.column
            return either(op.sql(typed, operand), general(), on: document)
        case .inside(let members):
            var values: [BSONValue] = []
            for member in members {
                guard case .value(let value) = member else { return nil }
                values.append(value)
            }
            guard !values.isEmpty, values.count <= 10_000 else { return nil }
            var operands: [SQLFragment] = []
            for value in values {
                guard let operand = operand(value) else { return nil }
                operands.append(operand)
            }
            return either(membership(values, operands), general(), on: document)
        case .exists, .type, .modulo, .matches, .all, .allElements, .elementMatch, .size, .bits, .not:
            return nil
        }
    }

    /// The typed column decides, or else the document does, for the few rows with other values.
    private func either(
        _ typed: SQLFragment,
        _ general: @autoclosure () -> Condition,
        on document: SQLFragment
    ) -> Condition? {
        if isTrusted { return .sql(typed, others: [field.rest]) }
        let general = general()
        guard let rest = general.fragment(on: document) else { return nil }
        return .sql(
            "(\(typed) OR (\(field.rest) IS NOT NULL AND \(rest)))",
            isExact: general.isExact
        )
    }

    /// The operand as the column's type; nil when it is of another type, or of none that the column holds.
    private func operand(_ value: BSONValue) -> SQLFragment? {
        switch (field.type, value) {
        case (.string, .string(let text)):
            return text.utf8.contains(0) ? nil : .bind(.text(text))
        case (.number, .int32), (.number, .int64), (.number, .double), (.number, .decimal128):
            return NumberOperand(value)?.literal.map { .bind(.numeric($0)) }
        case (.integer, .int32), (.integer, .int64), (.integer, .double), (.integer, .decimal128):
            // An integer of SQL's own is what an index on the column can look for.
            if let integer = value.exactInt64 { return .bind(.int(integer)) }
            return NumberOperand(value)?.literal.map { .bind(.numeric($0)) }
        case (.date, .date(let milliseconds)):
            // Out of the column's years every comparison is the document's.
            guard (-62_135_596_800_000...253_402_300_799_999).contains(milliseconds) else { return nil }
            // The very expression of the column, so that both round alike.
            return "to_timestamp(\(bind: .int(milliseconds))::float8 / 1000)"
        case (.objectId, .objectID(let id)): return .bind(.text(id.hex))
        case (.bool, .bool(let flag)): return .bind(.bool(flag))
        case (.uuid, .binary(let binary)) where binary.subtype == 4 && binary.bytes.count == 16:
            return uuidText(binary).map { "\(bind: .text($0))::uuid" }
        default: return nil
        }
    }

    private func membership(_ values: [BSONValue], _ operands: [SQLFragment]) -> SQLFragment {
        let texts = values.compactMap { value -> String? in
            switch value {
            case .string(let text): text
            case .objectID(let id): id.hex
            case .binary(let binary): uuidText(binary)
            default: nil
            }
        }
        switch field.type {
        case .string, .objectId: return "\(field.equality) = ANY (\(bind: .textArray(texts)))"
        case .uuid: return "\(field.column) = ANY (\(bind: .textArray(texts))::uuid[])"
        case .number:
            let digits = values.compactMap { NumberOperand($0)?.literal }
            return "\(field.column) = ANY (\(bind: .textArray(digits))::numeric[])"
        case .integer:
            let integers = values.compactMap(\.exactInt64)
            guard integers.count == values.count else {
                return "\(field.column) IN (\(.joined(operands, separator: ", ")))"
            }
            return "\(field.column) = ANY (\(bind: .intArray(integers)))"
        case .date, .bool: return "\(field.column) IN (\(.joined(operands, separator: ", ")))"
        }
    }

    /// For types that are always stored in one form: the value as the one element of an array.
    private func contained(_ value: BSONValue) -> [UInt8]? {
        field.type == .number || field.type == .integer ? nil : StoredText.bytes(.array([value]))
    }

    private func uuidText(_ binary: BSONBinary) -> String? {
        UUIDDigits.text(binary.bytes)
    }
}

/// The text of a UUID: `00112233-4455-6677-8899-aabbccddeeff`.
enum UUIDDigits {
    /// nil unless there are 16 bytes.
    static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 16 else { return nil }
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            let digits = String(byte, radix: 16)
            text += digits.count == 1 ? "0" + digits : digits
        }
        return text
    }
}
