import BSON
import Errors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Sines, cosines and their relatives.
extension NumericFunctions {
    /// - Throws: ``ServiceError`` with server code 50989 outside of the function's interval.
    static func trigonometric(_ op: ExpressionOperator, _ value: BSONValue) throws(ServiceError) -> BSONValue
    {
        let name = op.rawValue
        let number = try number(value, of: name)
        if !number.isNaN, !isInside(op, number) {
            throw .mongo(50989, "cannot apply \(name) to \(number.text), value is out of bounds")
        }
        if case .decimal(let decimal) = number { return .decimal128(decimalFunction(op, decimal)) }
        return .double(function(op, number.doubleValue))
    }

    private static func isInside(_ op: ExpressionOperator, _ number: NumericValue) -> Bool {
        let one = BSONValue.int32(1)
        switch op {
        case .sine, .cosine, .tangent: return !number.isInfinite
        case .arcSine, .arcCosine, .inverseHyperbolicTangent:
            return BSONOrdering.compare(number.value, one) <= 0
                && BSONOrdering.compare(number.value, .int32(-1)) >= 0
        case .inverseHyperbolicCosine: return BSONOrdering.compare(number.value, one) >= 0
        default: return true
        }
    }

    private static func function(_ op: ExpressionOperator, _ x: Double) -> Double {
        switch op {
        case .sine: sin(x)
        case .cosine: cos(x)
        case .tangent: tan(x)
        case .arcSine: asin(x)
        case .arcCosine: acos(x)
        case .arcTangent: atan(x)
        case .hyperbolicSine: sinh(x)
        case .hyperbolicCosine: cosh(x)
        case .hyperbolicTangent: tanh(x)
        case .inverseHyperbolicSine: asinh(x)
        case .inverseHyperbolicCosine: acosh(x)
        case .inverseHyperbolicTangent: atanh(x)
        case .degreesToRadians: x * (.pi / 180)
        default: x * (180 / .pi)
        }
    }

    private static func decimalFunction(_ op: ExpressionOperator, _ x: Decimal128) -> Decimal128 {
        switch op {
        case .sine: x.sine()
        case .cosine: x.cosine()
        case .tangent: x.tangent()
        case .arcSine: x.arcSine()
        case .arcCosine: x.arcCosine()
        case .arcTangent: x.arcTangent()
        case .hyperbolicSine: x.hyperbolicSine()
        case .hyperbolicCosine: x.hyperbolicCosine()
        case .hyperbolicTangent: x.hyperbolicTangent()
        case .inverseHyperbolicSine: x.inverseHyperbolicSine()
        case .inverseHyperbolicCosine: x.inverseHyperbolicCosine()
        case .inverseHyperbolicTangent: x.inverseHyperbolicTangent()
        case .degreesToRadians: x.radians
        default: x.degrees
        }
    }

    /// - Throws: ``ServiceError`` with server code 51044 or 51045 for other types.
    static func arcTangent2(_ y: BSONValue, _ x: BSONValue) throws(ServiceError) -> BSONValue {
        guard let a = NumericValue(y) else {
            throw .mongo(51044, "$atan2 only supports numeric types, not \(known: TypeName.of(y))")
        }
        guard let b = NumericValue(x) else {
            throw .mongo(51045, "$atan2 only supports numeric types, not \(known: TypeName.of(x))")
        }
        if a.isDecimal || b.isDecimal {
            return .decimal128(Decimal128.arcTangent(y: a.decimalValue, x: b.decimalValue))
        }
        return .double(atan2(a.doubleValue, b.doubleValue))
    }
}
