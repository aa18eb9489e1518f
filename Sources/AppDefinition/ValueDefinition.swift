public import BSON

/// A named value that rules and functions read.
public struct ValueDefinition: Sendable, Hashable {
    /// Where the content stands.
    public enum Content: Sendable, Hashable {
        case plain(BSONValue)
        /// In the secret of this name.
        case secret(name: String)
    }

    /// As `%%values.<name>` spells it.
    public let name: String
    /// The value, or where it stands.
    public let content: Content
}
