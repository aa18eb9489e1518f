/// Points in time as nanoseconds since the process's first look at the clock: cheap to compare and to share
/// between threads.
enum Timeline {
    private static let origin = ContinuousClock.now

    /// Now.
    static var now: Int64 { nanoseconds(ContinuousClock.now) }

    /// An instant on the timeline; far-away ones are clamped.
    static func nanoseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        nanoseconds(origin.duration(to: instant))
    }

    /// A duration in nanoseconds, clamped.
    static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overrun) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overrun ? (seconds < 0 ? .min : .max) : sum
    }

    /// A point some time after another, clamped.
    static func adding(_ duration: Duration, to point: Int64) -> Int64 {
        let (sum, overflow) = point.addingReportingOverflow(nanoseconds(duration))
        return overflow ? .max : sum
    }
}
