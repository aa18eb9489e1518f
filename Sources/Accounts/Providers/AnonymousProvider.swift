/// Anonymous users: nothing to check, and an end.
public enum AnonymousProvider {
    /// Such users are deleted this many days after they were made.
    ///
    /// Source: `reference/client-api.md` §3.2.
    public static let lifetimeDays = 90
}
