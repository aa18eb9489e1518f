public import BSON

/// What a script asks of the gateway while it runs.
public struct HostCall: Sendable {
    /// One of the names in `README.md` of this room, such as `data`.
    public let name: String
    /// What it needs, by name.
    public let arguments: BSONDocument

    /// Made of its parts.
    public init(name: String, arguments: BSONDocument) {
        self.name = name
        self.arguments = arguments
    }
}

/// Why a host call was refused: becomes an `Error` in the script.
public struct HostError: Error, Sendable, Hashable {
    /// The error's `message`.
    public let message: String
    /// The error's `name`: `Error`, `TypeError`, `MongoError`.
    public let name: String
    /// MongoDB's number, or nil: the error's `code`.
    public let code: Int?
    /// One of the gateway's codes: the error's `errorCode`.
    public let errorCode: String?

    /// Made of its parts.
    public init(_ message: String, name: String = "Error", code: Int? = nil, errorCode: String? = nil) {
        self.message = message
        self.name = name
        self.code = code
        self.errorCode = errorCode
    }
}

/// Answers the host calls of one run.
///
/// Calls of one run come concurrently, as the script makes them; their tasks are cancelled when the run ends.
/// When all of them are over, ``end()`` is called once.
public protocol ScriptHost: Sendable {
    /// Does what the script asks.
    func answer(_ call: HostCall) async -> Result<BSONValue, HostError>

    /// Gives back what the run held: sessions that it did not end are rolled back.
    func end() async
}
