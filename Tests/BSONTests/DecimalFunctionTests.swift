import BSON
import Testing

/// Expected values come from Python's mpmath with 150 digits and more, rounded once to 34, half to even.
@Suite("Decimal functions")
struct DecimalFunctionTests {
    static let functions: [(String, String, String)] = [
        ("exp", "1", "2.718281828459045235360287471352662"),
        ("exp", "-1", "0.3678794411714423215955237701614609"),
        ("exp", "100.5", "4.431955909845895416010706197956482E+43"),
        ("exp", "-14000", "7.537951771629720907593006284141136E-6081"),
        ("exp", "1E-20", "1.000000000000000000010000000000000"),
        ("ln", "10", "2.302585092994045684017991454684364"),
        ("ln", "0.5", "-0.6931471805599453094172321214581766"),
        ("ln", "1.000000000000000000000000000000001", "9.999999999999999999999999999999995E-34"),
        ("ln", "9.999999999999999999999999999999999E+6144", "14149.38539644841072829055748903542"),
        ("ln", "1E-6176", "-14220.76553433122614449511522413063"),
        ("log10", "2", "0.3010299956639811952137388947244930"),
        ("log10", "3E+100", "100.4771212547196624372950279032551"),
        ("sin", "1", "0.8414709848078965066525023216302990"),
        ("sin", "3.141592653589793238462643383279503", "-1.158028306006248941790250554076922E-34"),
        ("sin", "1E+40", "-0.5696334009536363273080341815735687"),
        ("sin", "1E+6000", "-0.7249266534376325863453460198136025"),
        ("cos", "1", "0.5403023058681397174009366074429766"),
        ("cos", "1.570796326794896619231321691639751", "4.420985846996875529104874722961539E-34"),
        ("cos", "123456789", "0.1402596815339096299506554932787677"),
        ("tan", "1", "1.557407724654902230506974807458360"),
        ("tan", "-0.5", "-0.5463024898437905132551794657802854"),
        ("asin", "0.5", "0.5235987755982988730771072305465838"),
        ("asin", "1", "1.570796326794896619231321691639751"),
        ("acos", "0.9999999999999999999999999999999999", "1.414213562373095048801688724209698E-17"),
        ("acos", "-0.5", "2.094395102393195492308428922186335"),
        ("atan", "2", "1.107148717794090503017065460178537"),
        ("atan", "1E+50", "1.570796326794896619231321691639751"),
        ("sinh", "1", "1.175201193643801456882381850595601"),
        ("sinh", "1E-10", "1.000000000000000000001666666666667E-10"),
        ("sinh", "-200", "-3.612986884062874629088738521094653E+86"),
        ("cosh", "3", "10.06766199577776584195393603511589"),
        ("tanh", "0.1", "0.09966799462495581711830508367835218"),
        ("tanh", "50", "1.000000000000000000000000000000000"),
        ("asinh", "1", "0.8813735870195430252326093249797923"),
        ("asinh", "-1E+60", "-138.8482527602026863504967194025200"),
        ("acosh", "1.5", "0.9624236501192068949955178268487368"),
        ("acosh", "1E+50", "115.8224018302622295103168048556764"),
        ("atanh", "0.5", "0.5493061443340548456976226184612629"),
        ("atanh", "-0.9999999999999999999999999999999999", "-39.49052017117874928301447079036328"),
        // What is exact or has no digits.
        ("exp", "0", "1"), ("exp", "-Infinity", "0"), ("exp", "20000", "Infinity"),
        ("exp", "-9E+6000", "0E-6176"), ("exp", "1E-6143", "1"), ("ln", "1.00", "0"),
        ("ln", "0", "-Infinity"),
        ("ln", "-1", "NaN"), ("ln", "Infinity", "Infinity"), ("log10", "1E-6176", "-6176"),
        ("log10", "1000.0", "3"), ("log10", "9.999999999999999999999999999999999E+6144", "6145"),
        ("sin", "-0.0", "-0.0"), ("sin", "Infinity", "NaN"),
        ("sin", "1E-50", "1.000000000000000000000000000000000E-50"),
        ("cos", "0", "1"), ("asin", "1.01", "NaN"), ("acos", "1", "0"), ("acosh", "0.5", "NaN"),
        ("sinh", "-1E+5", "-Infinity"), ("cosh", "20000", "Infinity"), ("tanh", "-1E+700", "-1"),
        ("asinh", "-Infinity", "-Infinity"), ("atanh", "-1", "-Infinity"), ("atanh", "2", "NaN"),
        ("atan", "NaN", "NaN"),
    ]

    @Test("are right to the last of 34 digits", arguments: functions)
    func function(name: String, argument: String, expected: String) throws {
        let x = try #require(Decimal128(argument))
        let result =
            switch name {
            case "exp": x.exponential()
            case "ln": x.naturalLogarithm()
            case "log10": x.decimalLogarithm()
            case "sin": x.sine()
            case "cos": x.cosine()
            case "tan": x.tangent()
            case "asin": x.arcSine()
            case "acos": x.arcCosine()
            case "atan": x.arcTangent()
            case "sinh": x.hyperbolicSine()
            case "cosh": x.hyperbolicCosine()
            case "tanh": x.hyperbolicTangent()
            case "asinh": x.inverseHyperbolicSine()
            case "acosh": x.inverseHyperbolicCosine()
            default: x.inverseHyperbolicTangent()
            }
        #expect(result.description == expected)
    }

    static let powers: [(String, String, String)] = [
        ("2", "0.5", "1.414213562373095048801688724209698"),
        ("1.5", "2.5", "2.755675960631075360471944584044128"),
        ("10", "-0.5", "0.3162277660168379331998893544432719"),
        ("1.0000001", "1E+9", "2.688103701264923810505600301477504E+43"),
        ("3", "-700.25", "7.867583893213155915714450648037226E-335"),
        ("2", "100", "1267650600228229401496703205376.000"),
        ("-2", "3", "-8.000000000000000000000000000000000"),
        ("-2", "0.5", "NaN"), ("7", "0", "1.000000000000000000000000000000000"), ("0", "3", "0E-6176"),
        ("-0", "3", "0E-6176"), ("-Infinity", "3", "-Infinity"), ("-Infinity", "-1", "0E-6176"),
        ("1.5", "9E+6000", "Infinity"), ("1.5", "-9E+6000", "0E-6176"), ("0.5", "-1E+40", "Infinity"),
        ("1", "1E+6000", "1.000000000000000000000000000000000"),
        ("3", "1E-6000", "1.000000000000000000000000000000000"),
        ("1E+5000", "1", "Infinity"), ("-1", "7", "-1.000000000000000000000000000000000"),
        ("NaN", "1", "NaN"),
    ]

    @Test("powers show all digits and end at what 128 binary bits hold", arguments: powers)
    func power(base: String, exponent: String, expected: String) throws {
        let (base, exponent) = (try #require(Decimal128(base)), try #require(Decimal128(exponent)))
        #expect(base.raised(to: exponent).description == expected)
    }

    static let angles: [(String, String, String)] = [
        ("1", "2", "0.4636476090008061162142562314612144"),
        ("-1", "-2", "-2.677945044588987122248387151818288"),
        ("1", "-1E+30", "3.141592653589793238462643383278503"),
        ("3", "-4", "2.498091544796508851659834154562180"),
        ("0", "1", "0"), ("0", "-1", "3.141592653589793238462643383279503"),
        ("-2", "0", "-1.570796326794896619231321691639751"),
        ("Infinity", "Infinity", "0.7853981633974483096156608458198757"),
        ("Infinity", "-Infinity", "2.356194490192344928846982537459627"),
    ]

    @Test("the angle of a point is in its quadrant", arguments: angles)
    func angle(y: String, x: String, expected: String) throws {
        let (y, x) = (try #require(Decimal128(y)), try #require(Decimal128(x)))
        #expect(Decimal128.arcTangent(y: y, x: x).description == expected)
    }

    static let roots: [(String, String)] = [
        ("2", "1.414213562373095048801688724209698"),
        ("1E+6001", "3.162277660168379331998893544432719E+3000"),
        ("7E-6000", "2.645751311064590590501615753639260E-3000"),
        ("1524157875323881726870921383936", "1234567890123456"),
        ("4", "2"), ("0.0400", "0.20"), ("-0", "-0"), ("-1", "NaN"), ("Infinity", "Infinity"),
        ("1E+7", "3162.277660168379331998893544432719"),
    ]

    @Test("an exact root is short, another has 34 digits", arguments: roots)
    func root(argument: String, expected: String) throws {
        #expect(try #require(Decimal128(argument)).squareRoot().description == expected)
    }

    @Test("degrees and radians are products")
    func degrees() throws {
        #expect(Decimal128(180).radians.description == "3.141592653589793238462643383279503")
        #expect(try #require(Decimal128("2")).degrees.description == "114.5915590261646417535963096282103")
    }
}
