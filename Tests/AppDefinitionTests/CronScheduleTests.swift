import Testing

@testable import AppDefinition

@Suite("Times of triggers")
struct CronScheduleTests {
    /// 2024-02-28T10:30:00Z, a Wednesday.
    private static let start: Int64 = 1_709_116_200

    @Test(
        "come as the five fields say",
        arguments: [
            ("* * * * *", 60), ("31 * * * *", 60), ("30 * * * *", 3600), ("*/25 * * * *", 1200),
            ("0-10 12 * * *", 5400), ("0 7 * * *", 73_800), ("0 */6 * * *", 5400),
            ("0 0 29 2 *", 48_600), ("0 0 1 * *", 135_000),
            ("0 0 * * FRI", 135_000), ("0 0 * * 0", 307_800),
            ("0 0 * * 7", 307_800), ("15,45 10,11 * * MON-FRI", 900),
            // Where both days are given, one of them is enough.
            ("0 0 1 * THU", 48_600), ("0 0 1 jan *", 26_573_400),
        ]
    )
    func next(text: String, seconds: Int64) throws {
        let schedule = try CronSchedule(text)
        #expect(schedule.next(after: Self.start, timeZone: "UTC") == Self.start + seconds)
    }

    @Test("keep to the clocks of a time zone")
    func zones() throws {
        let morning = try CronSchedule("30 2 * * *")
        // 2024-03-31: in Berlin 02:30 does not come; 2024-10-27 it comes twice, and counts once.
        #expect(morning.next(after: 1_711_839_600, timeZone: "Europe/Berlin") == 1_711_931_400)
        let first = try #require(morning.next(after: 1_729_980_000, timeZone: "Europe/Berlin"))
        #expect(first == 1_729_989_000)
        #expect(morning.next(after: first, timeZone: "Europe/Berlin") == 1_730_079_000)
        #expect(
            try CronSchedule("0 0 * * *").next(after: Self.start, timeZone: "America/New_York")
                == Self.start + 18 * 3600 + 1800
        )
    }

    @Test("wait for a leap year")
    func leap() throws {
        // 2025-01-01 to 2028-02-29.
        #expect(try CronSchedule("0 0 29 FEB *").next(after: 1_735_689_600, timeZone: "UTC") == 1_835_395_200)
    }

    @Test(
        "are refused by the field's name",
        arguments: [
            ("", "five fields"), ("* * * *", "five fields"), ("* * * * * *", "five fields"),
            ("60 * * * *", "minute"),
            ("* 24 * * *", "hour"), ("* * 0 * *", "day of month"), ("* * 32 * *", "day of month"),
            ("* * * 13 *", "month"), ("* * * FOO *", "month"), ("* * * * 8", "weekday"),
            ("5-1 * * * *", "minute"),
            ("*/0 * * * *", "minute"), ("*/x * * * *", "minute"), ("1/2/3 * * * *", "minute"),
            ("1,,2 * * * *", "minute"), ("* * */2 * *", "day of month"), ("-1 * * * *", "minute"),
            ("0 0 31 2 *", "such a day"), ("0 0 30,31 2 *", "such a day"), ("50/59 * * * *", "minute"),
        ]
    )
    func refuses(text: String, word: String) {
        let fault = #expect(throws: CronSchedule.Fault.self) { try CronSchedule(text) }
        #expect(fault?.message.contains(word) == true, "\(fault?.message ?? "")")
    }
}
