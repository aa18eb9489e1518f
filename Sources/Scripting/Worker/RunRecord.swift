import Synchronization

/// What two threads of a worker know of the run: the main one, and the one that watches it.
final class RunRecord: Sendable {
    let id: Int64
    let deadline: ContinuousClock.Instant
    private let limits: ScriptLimits
    private let keepsFirst: Bool
    private let state = Mutex(State())

    private struct State {
        var lines: ArraySlice<String> = []
        var memoryTime: Int64 = 0
        var sampledAt = ContinuousClock.now
    }

    init(id: Int64, deadline: ContinuousClock.Instant, limits: ScriptLimits, keepsFirst: Bool) {
        self.id = id
        self.deadline = deadline
        self.limits = limits
        self.keepsFirst = keepsFirst
    }

    /// Keeps a line: of a function's run the last ones, of an endpoint's and a trigger's the first.
    func log(_ line: String) {
        state.withLock { state in
            if keepsFirst, state.lines.count >= limits.logLines { return }
            state.lines.append(Self.cut(line, limits.logLineBytes))
            if state.lines.count > limits.logLines { state.lines.removeFirst() }
        }
    }

    var lines: [String] { state.withLock { Array($0.lines) } }

    /// Adds what the process has held since the last sample, in bytes · milliseconds.
    @discardableResult
    func sample(bytes: Int) -> Int64 {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.memoryTime += Int64(Double(bytes) * ((now - state.sampledAt) / .milliseconds(1)))
            state.sampledAt = now
            return state.memoryTime
        }
    }

    /// The beginning of a text, not longer than so many bytes, ending with a whole character.
    private static func cut(_ text: String, _ bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: bytes)
        while end > text.startIndex, String.Index(end, within: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return String(text[..<end])
    }
}
