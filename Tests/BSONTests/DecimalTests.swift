import BSON
import Testing

/// Expected values come from Python's `decimal` with 34 digits, half-even, clamped.
@Suite("Decimal arithmetic")
struct DecimalTests {
    static let cases: [(String, Character, String, String)] = [
        ("1", "+", "2", "3"), ("1.10", "+", "2.2", "3.30"),
        ("1E+40", "+", "1", "1.000000000000000000000000000000000E+40"),
        ("9999999999999999999999999999999999", "+", "1", "1.000000000000000000000000000000000E+34"),
        ("9999999999999999999999999999999999", "+", "0.5", "1.000000000000000000000000000000000E+34"),
        ("1", "-", "1.00", "0.00"), ("1E+34", "-", "1E-40", "1.000000000000000000000000000000000E+34"),
        ("Infinity", "-", "Infinity", "NaN"), ("-0", "+", "-0", "-0"), ("0", "-", "0", "0"),
        ("1.5", "*", "1.5", "2.25"), ("1E+6144", "*", "10", "Infinity"), ("1E-6176", "*", "0.5", "0E-6176"),
        ("1E-6176", "*", "0.6", "1E-6176"),
        (
            "9999999999999999999999999999999999", "*", "9999999999999999999999999999999999",
            "9.999999999999999999999999999999998E+67"
        ),
        ("Infinity", "*", "0", "NaN"), ("1", "/", "3", "0.3333333333333333333333333333333333"),
        ("2", "/", "3", "0.6666666666666666666666666666666667"),
        ("1", "/", "8", "0.125"), ("100", "/", "10", "10"), ("1", "/", "0", "Infinity"),
        ("0", "/", "0", "NaN"), ("-1", "/", "Infinity", "-0E-6176"),
        ("7", "%", "3", "1"), ("-7", "%", "3", "-1"), ("7.5", "%", "2", "1.5"), ("1E+100", "%", "7", "4"),
        ("5", "%", "1E+100", "5"), ("5", "%", "0", "NaN"),
    ]

    @Test("is exact to 34 digits, half to even", arguments: cases)
    func arithmetic(left: String, operation: Character, right: String, expected: String) throws {
        let (a, b) = (try #require(Decimal128(left)), try #require(Decimal128(right)))
        let result =
            switch operation {
            case "+": a + b
            case "-": a - b
            case "*": a * b
            case "/": a / b
            default: a.remainder(dividingBy: b)
            }
        #expect(result.description == expected)
    }

    @Test("rounds text at the 34th digit, unless it must be exact")
    func text() {
        let long = "1.0000000000000000000000000000000005"
        #expect(Decimal128(long)?.description == "1.000000000000000000000000000000000")
        #expect(Decimal128(exactly: long) == nil)
        #expect(
            Decimal128("1.0000000000000000000000000000000015")?.description
                == "1.000000000000000000000000000000002"
        )
        #expect(Decimal128("1E+7000")?.description == "Infinity")
        #expect(Decimal128(exactly: "1E+7000") == nil)
        for bad in ["", ".", "1e", "1e+", "--1", "1.2.3", "0x1", " 1", "1 ", "Infinit", "e5", "NaN1"] {
            #expect(Decimal128(bad) == nil, "\(bad)")
        }
    }

    @Test("converts doubles exactly, and as MongoDB does")
    func doubles() {
        #expect(Decimal128(0.1).description == "0.1000000000000000055511151231257827")
        #expect(Decimal128(0.5).description == "0.5")
        #expect(Decimal128(fifteenDigits: 5.5).description == "5.50000000000000")
        #expect(Decimal128(fifteenDigits: 0.1).description == "0.100000000000000")
        #expect(Decimal128(fifteenDigits: 999_999_999_999_999.9).description == "1.00000000000000E+15")
        #expect(Decimal128(-0.0).description == "-0")
        #expect(Decimal128("1E-400")?.doubleValue == 0)
        #expect(Decimal128("1E+400")?.doubleValue == .infinity)
    }

    @Test(
        "rounds to places by every rule",
        arguments: [
            ("2.5", 0, FloatingPointRoundingRule.toNearestOrEven, "2"), ("3.5", 0, .toNearestOrEven, "4"),
            ("-2.5", 0, .towardZero, "-2"),
            ("-2.5", 0, .down, "-3"), ("2.1", 0, .up, "3"), ("1234.567", 2, .toNearestOrEven, "1234.57"),
            ("1234", -2, .toNearestOrEven, "1.2E+3"),
            ("0.4", -50, .up, "1E+50"), ("1", 5, .up, "1"),
        ]
    )
    func rounding(text: String, places: Int, rule: FloatingPointRoundingRule, expected: String) throws {
        #expect(try #require(Decimal128(text)).rounded(toPlaces: places, rule).description == expected)
    }
}
