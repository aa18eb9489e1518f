/// So many rows per second on average, and some at once; the time comes in as an argument.
struct LogAllowance: Sendable {
    private let perSecond: Double
    private let atOnce: Double
    private var left: Double
    private var since: ContinuousClock.Instant?

    init(perSecond: Double, atOnce: Double) {
        self.perSecond = perSecond
        self.atOnce = atOnce
        left = atOnce
    }

    /// Whether one more may be had.
    mutating func take(at now: ContinuousClock.Instant) -> Bool {
        if let since, now > since { left = min(atOnce, left + (now - since) / .seconds(1) * perSecond) }
        since = max(since ?? now, now)
        guard left >= 1 else { return false }
        left -= 1
        return true
    }
}
