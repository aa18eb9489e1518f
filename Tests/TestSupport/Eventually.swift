public import Testing

/// Waits until a condition holds, looking again and again; fails the test after a minute.
public func eventually(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("it did not come about within a minute", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}
