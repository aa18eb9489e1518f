

/// Placeholder until the app registry lands.
public struct AppSnapshot: Sendable {}
