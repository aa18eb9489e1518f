import BSON
import MQL

/// A number that documents are compared with, prepared for the forms in which numbers are stored.
///
/// Plain JSON numbers compare exactly in SQL. Beside them stand wrapped ones: NaN, the infinities and
/// -0.0 as `{"$numberDouble": …}`, and decimals as `{"$numberDecimal": …}`. Source: storage-study §2.1.
struct NumberOperand {
    /// The finite number as JSON writes it; nil for NaN and the infinities.
    let literal: String?
    /// The number as `numeric` reads it, for comparison with stored decimals.
    private let decimal: String
    /// The sign of (`decimal` - exact value): a double may need more digits than a decimal has.
    private let decimalExcess: Int
    private let value: BSONValue

    /// - Returns: nil for what is no number, and for decimals with a fraction or beyond 64 bits: stored
    ///   doubles are written in their shortest digits, which cannot be compared with those.
    init?(_ value: BSONValue) {
        switch value {
        case .int32(let number):
            self.init(value, "\(number)")
        case .int64(let number):
            self.init(value, "\(number)")
        case .double(let number):
            if number.isNaN || number.isInfinite {
                self.init(special: value)
            } else {
                guard let bytes = StoredText.bytes(.double(number == 0 ? 0 : number)) else { return nil }
                let rounded = Decimal128(number)
                let excess = BSONOrdering.compare(.decimal128(rounded), value)
                self.init(
                    value: value,
                    literal: String(decoding: bytes, as: UTF8.self),
                    decimal: rounded.description,
                    decimalExcess: excess
                )
            }
        case .decimal128(let number):
            if number.isNaN || number.isInfinite {
                self.init(special: value)
            } else {
                guard let whole = number.exactInt64 else { return nil }
                self.init(value, "\(whole)")
            }
        default: return nil
        }
    }

    private init(_ value: BSONValue, _ digits: String) {
        self.init(value: value, literal: digits, decimal: digits, decimalExcess: 0)
    }

    private init(special value: BSONValue) {
        let isNegative = (value.doubleValue ?? 0) < 0
        self.init(
            value: value,
            literal: nil,
            decimal: isNegative ? "-Infinity" : "Infinity",
            decimalExcess: 0
        )
    }

    private init(value: BSONValue, literal: String?, decimal: String, decimalExcess: Int) {
        self.value = value
        self.literal = literal
        self.decimal = decimal
        self.decimalExcess = decimalExcess
    }

    var isNaN: Bool { literal == nil && value.doubleValue?.isNaN == true }

    /// Whether every finite number satisfies `number op self`; only meaningful without a literal.
    func acceptsAllFinite(_ op: ComparisonOperator) -> Bool {
        guard literal == nil, !isNaN else { return false }
        return (value.doubleValue ?? 0) > 0 ? op.acceptsLess : op.acceptsGreater
    }

    /// The wrapped doubles that satisfy `number op self`.
    func specials(_ op: ComparisonOperator) -> [String] {
        let candidates: [(String, Double)] = [
            ("NaN", .nan), ("Infinity", .infinity), ("-Infinity", -.infinity), ("-0.0", -0.0),
        ]
        return candidates.filter { candidate in
            // NaN satisfies only what means equality with NaN.
            if candidate.1.isNaN || isNaN { return candidate.1.isNaN && isNaN && op.acceptsEqual }
            return op.accepts(BSONOrdering.compare(.double(candidate.1), value))
        }.map(\.0)
    }

    /// What a stored decimal has to be: an operator and digits; nil when none satisfies.
    func decimalTest(_ op: ComparisonOperator) -> (op: ComparisonOperator, digits: String)? {
        guard decimalExcess != 0 else { return (op, decimal) }
        switch op {
        case .equal: return nil
        case .greater, .greaterOrEqual: return (decimalExcess > 0 ? .greaterOrEqual : .greater, decimal)
        case .less, .lessOrEqual: return (decimalExcess > 0 ? .less : .lessOrEqual, decimal)
        }
    }
}
