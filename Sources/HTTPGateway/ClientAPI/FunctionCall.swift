import BSON
import Errors

/// What a client wants called: `{name, arguments, service}`.
///
/// Source: client-api.md §9.1.
struct FunctionCall: Sendable {
    let name: String
    let arguments: [BSONValue]
    /// nil for a function of the app's own.
    let service: String?

    /// - Throws: ``ServiceError`` `invalidParameter`, naming the member.
    init(_ body: BSONDocument) throws(ServiceError) {
        guard case .string(let name)? = body["name"], !name.isEmpty else {
            throw Self.invalid("name", "is a required string")
        }
        self.name = name
        switch body["arguments"] {
        case nil, .null?: arguments = []
        case .array(let elements)?: arguments = elements
        default: throw Self.invalid("arguments", "must be an array")
        }
        switch body["service"] {
        case nil, .null?: service = nil
        case .string(let service)?: self.service = service
        default: throw Self.invalid("service", "must be a string")
        }
    }

    private static func invalid(_ member: String, _ fault: String) -> ServiceError {
        ServiceError(.invalidParameter, "'\(known: member)' \(known: fault)", details: [member: fault])
    }
}
