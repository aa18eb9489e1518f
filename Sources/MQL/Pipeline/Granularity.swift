import BSON
import Errors
import Foundation

/// A series of preferred numbers, to which `$bucketAuto` rounds its bounds.
///
/// Source: MongoDB manual, `$bucketAuto`, "Granularity"; Renard series of ISO 3, E series of IEC 60063.
public struct Granularity: Sendable {
    /// The numbers from 10 to below 100; nil stands for powers of two.
    private let series: [Double]?

    init?(_ name: String) {
        switch name {
        case "R5": series = [10, 16, 25, 40, 63]
        case "R10": series = [10, 12.5, 16, 20, 25, 31.5, 40, 50, 63, 80]
        case "R20":
            series = [
                10, 11.2, 12.5, 14, 16, 18, 20, 22.4, 25, 28, 31.5, 35.5, 40, 45, 50, 56, 63, 71, 80, 90,
            ]
        case "R40":
            series = [
                10, 10.6, 11.2, 11.8, 12.5, 13.2, 14, 15, 16, 17, 18, 19, 20, 21.2, 22.4, 23.6, 25, 26.5, 28,
                30, 31.5, 33.5, 35.5, 37.5, 40, 42.5, 45, 47.5, 50, 53, 56, 60, 63, 67, 71, 75, 80, 85, 90,
                95,
            ]
        case "R80":
            series = [
                10, 10.3, 10.6, 10.9, 11.2, 11.5, 11.8, 12.2, 12.5, 12.8, 13.2, 13.6, 14, 14.5, 15, 15.5, 16,
                16.5, 17, 17.5, 18, 18.5, 19, 19.5, 20, 20.6, 21.2, 21.8, 22.4, 23, 23.6, 24.3, 25, 25.8,
                26.5, 27.2, 28, 29, 30, 30.7, 31.5, 32.5, 33.5, 34.5, 35.5, 36.5, 37.5, 38.7, 40, 41.2, 42.5,
                43.7, 45, 46.2, 47.5, 48.7, 50, 51.5, 53, 54.5, 56, 58, 60, 61.5, 63, 65, 67, 69, 71, 73, 75,
                77.5, 80, 82.5, 85, 87.5, 90, 92.5, 95, 97.5,
            ]
        case "1-2-5": series = [10, 20, 50]
        case "E6": series = [10, 15, 22, 33, 47, 68]
        case "E12": series = [10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82]
        case "E24":
            series = [
                10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82,
                91,
            ]
        case "E48": series = Self.geometric(48)
        case "E96": series = Self.geometric(96)
        case "E192": series = Self.geometric(192)
        case "POWERSOF2": series = nil
        default: return nil
        }
    }

    /// The finer E series: three digits of equal ratios, but for one number that the standard rounds up.
    private static func geometric(_ count: Int) -> [Double] {
        (0..<count).map { step in
            let number = (pow(10, Double(step) / Double(count)) * 100).rounded()
            return (number == 919 ? 920 : number) / 10
        }
    }

    /// The next number of the series above.
    func up(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        let number = try Self.check(value)
        if number == 0 || number.isInfinite { return value }
        guard let series, let first = series.first, let last = series.last else {
            return Self.power(Int(floor(log2(number))) + 1)
        }
        var factor = 1.0
        while number >= last * factor { factor *= 10 }
        while number < first * factor {
            let lowest = first * factor
            factor /= 10
            if number >= last * factor { return .double(lowest) }
        }
        return .double((series.first { number < $0 * factor } ?? last) * factor)
    }

    /// The next number of the series below.
    func down(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        let number = try Self.check(value)
        if number == 0 || number.isInfinite { return value }
        guard let series, let first = series.first, let last = series.last else {
            return Self.power(Int(ceil(log2(number))) - 1)
        }
        var factor = 1.0
        while number <= first * factor { factor /= 10 }
        while number > last * factor {
            let highest = last * factor
            factor *= 10
            if number <= first * factor { return .double(highest) }
        }
        return .double((series.last { $0 * factor < number } ?? first) * factor)
    }

    private static func power(_ exponent: Int) -> BSONValue {
        switch exponent {
        case 0..<31: .int32(1 << Int32(exponent))
        case 31..<63: .int64(1 << Int64(exponent))
        default: .double(pow(2, Double(exponent)))
        }
    }

    /// - Throws: ``ServiceError`` with server code 40258 to 40260.
    private static func check(_ value: BSONValue) throws(ServiceError) -> Double {
        guard let number = NumericValue(value) else {
            throw .mongo(
                40258,
                "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: \(known: TypeName.of(value))"
            )
        }
        if number.isNaN {
            throw .mongo(
                40259,
                "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN"
            )
        }
        if number.doubleValue < 0 {
            throw .mongo(
                40260,
                "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number"
            )
        }
        return number.doubleValue
    }
}
