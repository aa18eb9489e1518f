import BSON
import Errors

/// Date operators.
extension OperatorEvaluator {
    func date(_ op: ExpressionOperator, _ operands: NamedOperands) throws(ServiceError) -> BSONValue? {
        switch op {
        case .dateToString: return try dateToString(operands)
        case .dateFromString: return try dateFromString(operands)
        case .dateToParts: return try dateToParts(operands)
        case .dateFromParts: return try dateFromParts(operands)
        case .dateAdd, .dateSubtract: return try dateAdd(op, operands)
        case .dateDiff: return try dateDiff(operands)
        case .dateTrunc: return try dateTrunc(operands)
        default: return try datePart(op, operands)
        }
    }

    /// Milliseconds of a date, timestamp or object id; nil for null and missing.
    ///
    /// - Throws: ``ServiceError`` with the given server code for other types.
    private func milliseconds(_ value: BSONValue?, code: Int = 16006) throws(ServiceError) -> Int64? {
        switch value {
        case nil, .null, .undefined: return nil
        case .date(let milliseconds): return milliseconds
        case .timestamp(let timestamp): return Int64(timestamp.seconds) * 1000
        case .objectID(let id): return Self.milliseconds(of: id)
        default: throw .mongo(code, "can't convert from BSON type \(known: TypeName.of(value)) to Date")
        }
    }

    static func milliseconds(of id: ObjectID) -> Int64 {
        // MongoDB reads the seconds as a signed number here.
        Int64(Int32(bitPattern: id.bytes.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })) * 1000
    }

    /// The zone of an operator: `.some(nil)` where none was written, nil for a null one.
    private func zone(_ operands: NamedOperands) throws(ServiceError) -> TimeZoneRule?? {
        guard operands.has("timezone") else { return .some(nil) }
        let value = try operands.value("timezone")
        guard let value, !value.isNullish else { return nil }
        guard case .string(let name) = value else {
            throw .mongo(40517, "timezone must evaluate to a string, found \(known: TypeName.of(value))")
        }
        return .some(try TimeZoneRule(name))
    }

    /// `$year` and its relatives.
    private func datePart(_ op: ExpressionOperator, _ operands: NamedOperands) throws(ServiceError)
        -> BSONValue
    {
        let value = try operands.value("date")
        guard let zone = try zone(operands) else { return .null }
        guard let milliseconds = try milliseconds(value) else { return .null }
        let fields = (zone ?? .utc).fields(of: milliseconds)
        switch op {
        case .year: return .int32(Int32(clamping: fields.year))
        case .month: return .int32(Int32(fields.month))
        case .dayOfMonth: return .int32(Int32(fields.day))
        case .dayOfWeek: return .int32(Int32(fields.dayOfWeek))
        case .dayOfYear: return .int32(Int32(fields.dayOfYear))
        case .hour: return .int32(Int32(fields.hour))
        case .minute: return .int32(Int32(fields.minute))
        case .second: return .int32(Int32(fields.second))
        case .millisecond: return .int32(Int32(fields.millisecond))
        case .week: return .int32(Int32(fields.week))
        case .isoWeek: return .int32(Int32(fields.isoWeek.week))
        case .isoWeekYear: return .int64(fields.isoWeek.year)
        default: return .int32(Int32(fields.isoDayOfWeek))
        }
    }

    private func dateToString(_ operands: NamedOperands) throws(ServiceError) -> BSONValue? {
        let value = try operands.value("date")
        let hasFormat = operands.has("format")
        let format = try operands.value("format")
        var pattern: String?
        if hasFormat, let format, !format.isNullish {
            guard case .string(let text) = format else {
                throw .mongo(
                    18533,
                    "$dateToString requires that 'format' be a string, found: \(known: TypeName.of(format)) with value \(MessageText.of(format))"
                )
            }
            try DateText.check(text, directives: "%YmdHMSLjwuUVGbBzZ")
            pattern = text
        }
        guard let zone = try zone(operands) else { return try operands.value("onNull") ?? .null }
        guard let milliseconds = try milliseconds(value) else {
            return operands.has("onNull") ? try operands.value("onNull") : .null
        }
        if hasFormat, pattern == nil { return .null }
        let rule = zone ?? .utc
        let fields = rule.fields(of: milliseconds)
        let offset = rule.offset(at: milliseconds)
        let standard = rule.isUTC ? "%Y-%m-%dT%H:%M:%S.%LZ" : "%Y-%m-%dT%H:%M:%S.%L"
        return .string(try DateText.formatted(fields, offset: offset, format: pattern ?? standard))
    }

    private func dateFromString(_ operands: NamedOperands) throws(ServiceError) -> BSONValue? {
        let value = try operands.value("dateString")
        let format = try operands.value("format")
        guard let zone = try zone(operands) else { return .null }
        if let format, !format.isNullish, format.string == nil {
            throw .mongo(
                40684,
                "$dateFromString requires that 'format' be a string, found: \(known: TypeName.of(format)) with value \(MessageText.of(format))"
            )
        }
        guard let value, !value.isNullish else {
            return operands.has("onNull") ? try operands.value("onNull") : .null
        }
        guard case .string(let text) = value else {
            if operands.has("onError") { return try operands.value("onError") }
            throw .mongo(
                .conversionFailure,
                "$dateFromString requires that 'dateString' be a string, found: \(known: TypeName.of(value)) with value \(MessageText.of(value))"
            )
        }
        if operands.has("format"), format?.isNullish ?? true { return .null }
        if let date = try DateTextParser.parse(text, format: format?.string, zone: zone) {
            return .date(date)
        }
        if operands.has("onError") { return try operands.value("onError") }
        throw .mongo(
            .conversionFailure,
            "Error parsing date string '\(MessageText.shortened(text))'"
        )
    }

    private func dateToParts(_ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let value = try operands.value("date")
        guard let zone = try zone(operands) else { return .null }
        var iso = false
        if operands.has("iso8601") {
            let flag = try operands.value("iso8601")
            guard let flag, !flag.isNullish else { return .null }
            guard case .bool(let isISO) = flag else {
                throw .mongo(40521, "iso8601 must evaluate to a bool, found \(known: TypeName.of(flag))")
            }
            iso = isISO
        }
        guard let milliseconds = try milliseconds(value) else { return .null }
        let fields = (zone ?? .utc).fields(of: milliseconds)
        var parts: BSONDocument =
            iso
            ? [
                "isoWeekYear": .int32(Int32(clamping: fields.isoWeek.year)),
                "isoWeek": .int32(Int32(fields.isoWeek.week)),
                "isoDayOfWeek": .int32(Int32(fields.isoDayOfWeek)),
            ]
            : [
                "year": .int32(Int32(clamping: fields.year)), "month": .int32(Int32(fields.month)),
                "day": .int32(Int32(fields.day)),
            ]
        parts.append("hour", .int32(Int32(fields.hour)))
        parts.append("minute", .int32(Int32(fields.minute)))
        parts.append("second", .int32(Int32(fields.second)))
        parts.append("millisecond", .int32(Int32(fields.millisecond)))
        return .document(parts)
    }

    /// Fields beyond their range carry over: month 14 is February of the next year.
    private func dateFromParts(_ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        func part(_ name: String, _ fallback: Int64) throws(ServiceError) -> Int64? {
            guard operands.has(name) else { return fallback }
            let value = try operands.value(name)
            guard let value, !value.isNullish else { return nil }
            guard let number = NumericValue(value)?.exactInt64 else {
                throw .mongo(
                    40515,
                    "'\(name)' must evaluate to an integer, found \(known: TypeName.of(value)) with value \(MessageText.of(value))"
                )
            }
            let limit: Int64 = name == "second" || name == "millisecond" ? .max : 32_767
            guard number >= -limit, number <= limit else {
                throw .mongo(
                    name == "year" || name == "isoWeekYear" ? 40523 : 31034,
                    "'\(name)' must evaluate to a value in the range [-32768, 32767]; value \(number) is not in range"
                )
            }
            return number
        }
        let isISO = operands.has("isoWeekYear")
        let year = try part(isISO ? "isoWeekYear" : "year", 1970)
        let second = try part(isISO ? "isoWeek" : "month", 1)
        let day = try part(isISO ? "isoDayOfWeek" : "day", 1)
        let hour = try part("hour", 0)
        let minute = try part("minute", 0)
        let seconds = try part("second", 0)
        let millisecond = try part("millisecond", 0)
        guard let zone = try zone(operands) else { return .null }
        guard let year, let second, let day, let hour, let minute, let seconds, let millisecond else {
            return .null
        }
        if year < 1 || year > 9999 {
            throw .mongo(
                40523,
                "'\(isISO ? "isoWeekYear" : "year")' must evaluate to an integer in the range 1 to 9999, found \(year)"
            )
        }
        let days: Int64
        if isISO {
            let fourth = DateFields(year: year, month: 1, day: 4)
            days = fourth.dayNumber - Int64(fourth.isoDayOfWeek - 1) + (second - 1) * 7 + day - 1
        } else {
            let months = year * 12 + second - 1
            let whole = DateFields.floorDivide(months, 12)
            days = (DateFields.days(year: whole, month: Int(months - whole * 12) + 1, day: 1) ?? 0) + day - 1
        }
        let clock = (days * 24 + hour) * 60 + minute
        let (inSeconds, tooMany) = seconds.addingReportingOverflow(clock * 60)
        let (scaled, tooLong) = inSeconds.multipliedReportingOverflow(by: 1000)
        let (local, tooFar) = scaled.addingReportingOverflow(millisecond)
        guard !tooMany, !tooLong, !tooFar, let date = (zone ?? .utc).milliseconds(local: local) else {
            throw .mongo(.overflow, "$dateFromParts: the date is out of range")
        }
        return .date(date)
    }

    /// A unit by its name.
    private func unit(_ operands: NamedOperands, _ name: String, type code: Int) throws(ServiceError)
        -> DateUnit?
    {
        let value = try operands.value("unit")
        guard let value, !value.isNullish else { return nil }
        guard case .string(let text) = value else {
            throw .mongo(code, "\(name) requires 'unit' to be a string, but got \(known: TypeName.of(value))")
        }
        guard let unit = DateUnit(rawValue: text) else {
            throw .mongo(.failedToParse, "unknown time unit value: \(MessageText.shortened(text))")
        }
        return unit
    }

    private func dateAdd(_ op: ExpressionOperator, _ operands: NamedOperands) throws(ServiceError)
        -> BSONValue
    {
        let name = op.rawValue
        let start = try operands.value("startDate")
        let unit = try unit(operands, name, type: 5_439_013)
        let amount = try operands.value("amount")
        guard let zone = try zone(operands) else { return .null }
        guard let start, !start.isNullish, let unit, let amount, !amount.isNullish else { return .null }
        guard let date = try milliseconds(start, code: 5_166_403) else { return .null }
        guard var count = NumericValue(amount)?.exactInt64 else {
            throw .mongo(5_166_405, "\(name) expects integer amount of time units")
        }
        if op == .dateSubtract {
            if count == .min {
                throw .mongo(
                    6_045_000,
                    "invalid $dateSubtract 'amount' parameter value: \(count) \(unit.rawValue)"
                )
            }
            count = -count
        }
        if count.magnitude > Self.largestAmount(unit) {
            throw .mongo(5_976_500, "invalid \(name) 'amount' parameter value: \(count) \(unit.rawValue)")
        }
        guard let result = DateArithmetic.add(date, unit, count, zone ?? .utc) else {
            throw .mongo(5_166_406, "\(name) overflowed")
        }
        return .date(result)
    }

    /// What MongoDB takes for an amount that cannot be meant: more than all dates span.
    private static func largestAmount(_ unit: DateUnit) -> UInt64 {
        switch unit {
        case .year: 584_942_417
        case .quarter: 2_339_769_669
        case .month: 7_019_309_007
        case .week: 30_500_568_904
        case .day: 213_503_982_334
        case .hour: 5_124_095_576_030
        case .minute: 307_445_734_561_825
        case .second: 18_446_744_073_709_551
        case .millisecond: .max
        }
    }

    private func dateDiff(_ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let start = try operands.value("startDate")
        let end = try operands.value("endDate")
        let unit = try unit(operands, "$dateDiff", type: 5_439_013)
        guard let zone = try zone(operands) else { return .null }
        guard let first = try startOfWeek(operands, "$dateDiff", unit) else { return .null }
        guard let from = try milliseconds(start, code: 5_166_307),
            let to = try milliseconds(end, code: 5_166_307), let unit
        else { return .null }
        guard
            let difference = DateArithmetic.difference(
                from: from,
                to: to,
                unit,
                zone ?? .utc,
                startOfWeek: first
            )
        else { throw .mongo(.overflow, "dateDiff overflowed") }
        return .int64(difference)
    }

    private func dateTrunc(_ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let value = try operands.value("date")
        let unit = try unit(operands, "$dateTrunc", type: 5_439_013)
        let size = try operands.value("binSize")
        guard let zone = try zone(operands) else { return .null }
        guard let first = try startOfWeek(operands, "$dateTrunc", unit) else { return .null }
        var bin: Int64 = 1
        if operands.has("binSize") {
            guard let size, !size.isNullish else { return .null }
            guard let number = NumericValue(size)?.exactInt64 else {
                throw .mongo(
                    5_439_017,
                    "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '\(MessageText.of(size))' of type \(known: TypeName.of(size))"
                )
            }
            if number <= 0 {
                throw .mongo(
                    5_439_018,
                    "$dateTrunc requires 'binSize' to be greater than 0, but got value \(number)"
                )
            }
            bin = number
        }
        guard let date = try milliseconds(value, code: 5_166_307), let unit else { return .null }
        guard bin <= 100_000_000_000 || unit.milliseconds != nil,
            let result = DateArithmetic.truncate(date, unit, bin: bin, zone ?? .utc, startOfWeek: first)
        else {
            throw .mongo(
                unit.milliseconds == nil ? 5_439_006 : 5_439_002,
                "$dateTrunc: the bin is out of range"
            )
        }
        return .date(result)
    }

    /// 1 (Monday) to 7 (Sunday, the default); nil for a null one.
    ///
    /// Only weeks look at it.
    private func startOfWeek(_ operands: NamedOperands, _ name: String, _ unit: DateUnit?)
        throws(ServiceError) -> Int?
    {
        guard operands.has("startOfWeek") else { return 7 }
        let value = try operands.value("startOfWeek")
        guard let value, !value.isNullish else { return nil }
        guard unit == .week else { return 7 }
        guard case .string(let text) = value else {
            throw .mongo(
                5_439_015,
                "\(name) requires 'startOfWeek' to be a string, but got \(known: TypeName.of(value))"
            )
        }
        let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        let lowered = TextCase.lowered(text)
        guard let index = days.firstIndex(where: { $0 == lowered || $0.prefix(3) == lowered }) else {
            throw .mongo(
                5_439_016,
                "\(name) parameter 'startOfWeek' value cannot be recognized as a day of a week: \(MessageText.shortened(text))"
            )
        }
        return index + 1
    }
}
