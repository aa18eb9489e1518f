/// The functions of an app, called as a user.
@dynamicMemberLookup
public struct Functions: Sendable {
    let user: User

    /// A function by its name.
    public subscript(dynamicMember name: String) -> Function { Function(user: user, name: name) }

    /// A function by a name that is no Swift word.
    public subscript(name: String) -> Function { Function(user: user, name: name) }

    /// One function.
    public struct Function: Sendable {
        let user: User
        let name: String

        /// Calls it.
        ///
        /// - Parameters:
        ///   - arguments: In order.
        ///   - key: The same for each repetition of a call that is to take effect once; at most 255 characters.
        /// - Returns: What it returned.
        /// - Throws: ``TidegateError`` with the code `FunctionExecutionError` for what it threw.
        @discardableResult
        public func callAsFunction(_ arguments: [AnyBSON], key: String? = nil) async throws -> AnyBSON {
            try await Backend.user(user).perform(
                ServiceCall(
                    kind: .function,
                    arguments: ["name": .string(name), "arguments": .array(arguments)]
                ),
                key: key
            )
        }

        /// Calls it with a value, and decodes what it returned.
        public func call<Result: Decodable>(
            _ arguments: any Encodable & Sendable...,
            as type: Result.Type = Result.self
        ) async throws -> Result {
            let values = try arguments.map { try BSONEncoder().encodeValue($0) }
            return try BSONDecoder().decodeValue(type, from: try await callAsFunction(values))
        }
    }
}
