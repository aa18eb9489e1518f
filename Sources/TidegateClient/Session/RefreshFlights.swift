/// The refreshes under way: one for each user, which everybody who needs a token waits for.
actor RefreshFlights {
    private var flights: [String: Task<String, any Error>] = [:]

    /// Waits for the flight of a user, or begins it.
    func join(_ user: String, _ body: @escaping @Sendable () async throws -> String) async throws -> String {
        if let flight = flights[user] { return try await flight.value }
        // A task of its own, so that whoever began it may give up without spoiling it for the others.
        let flight = Task { try await body() }
        flights[user] = flight
        defer { flights[user] = nil }
        return try await flight.value
    }
}
