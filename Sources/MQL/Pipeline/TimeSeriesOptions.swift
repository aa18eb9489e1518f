import BSON
import Errors

/// The options of `$out` into a time series: checked as MongoDB checks them, and then not served.
///
/// Who asks for what MongoDB refuses, too, learns what is wrong; anybody else, that tidegate has no time series.
enum TimeSeriesOptions {
    private static let place = "$out.timeseries"
    private static let granularities: Set<String> = ["seconds", "minutes", "hours"]
    /// Seconds of a year.
    private static let longestBucket: Int64 = 31_536_000

    /// The error for this `timeseries`: MongoDB's where the options are wrong, else NotImplemented (238).
    static func refusal(of options: BSONValue) -> ServiceError {
        do throws(ServiceError) {
            try check(options)
        } catch {
            return error
        }
        return .mongo(238, "$out with 'timeseries' is not supported by tidegate")
    }

    /// - Throws: ``ServiceError`` with server code 2, 14, 72, 40414 or 40415.
    private static func check(_ value: BSONValue) throws(ServiceError) {
        guard case .document(let options) = value else {
            throw LookupParser.mismatch(place, value, "object")
        }
        for field in options where !members.contains(field.key) {
            throw .mongo(40415, "BSON field '\(place).\(field.key)' is an unknown field.")
        }
        guard try text(options, "timeField") != nil else {
            throw .mongo(40414, "BSON field '\(place).timeField' is missing but a required field")
        }
        _ = try text(options, "metaField")
        let granularity = try text(options, "granularity")
        if let granularity, !granularities.contains(granularity) {
            throw .mongo(
                .badValue,
                "Enumeration value '\(MessageText.shortened(granularity))' for field '\(place).granularity' is not a valid value."
            )
        }
        let span = try seconds(options, "bucketMaxSpanSeconds")
        let rounding = try seconds(options, "bucketRoundingSeconds")
        if span != rounding {
            throw .mongo(
                72,
                "bucketMaxSpanSeconds and bucketRoundingSeconds must be given together and be equal"
            )
        }
        if granularity != nil, span != nil {
            throw .mongo(72, "granularity does not go with bucketMaxSpanSeconds and bucketRoundingSeconds")
        }
    }

    private static let members: Set<String> = [
        "timeField", "metaField", "granularity", "bucketMaxSpanSeconds", "bucketRoundingSeconds",
    ]

    private static func text(_ options: BSONDocument, _ name: String) throws(ServiceError) -> String? {
        switch options[name] {
        case nil, .null?, .undefined?: return nil
        case .string(let text)?: return text
        case let other?: throw LookupParser.mismatch("\(place).\(name)", other, "string")
        }
    }

    private static func seconds(_ options: BSONDocument, _ name: String) throws(ServiceError) -> Int64? {
        switch options[name] {
        case nil, .null?, .undefined?: return nil
        case let value?:
            guard let number = NumericValue(value) else {
                throw LookupParser.mismatch("\(place).\(name)", value, "number")
            }
            guard let whole = number.roundedInt64, (1...longestBucket).contains(whole) else {
                throw .mongo(.badValue, "'\(place).\(name)' must be from 1 to \(longestBucket)")
            }
            return whole
        }
    }
}
