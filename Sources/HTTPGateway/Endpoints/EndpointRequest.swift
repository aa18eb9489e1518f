import BSON
import HTTPTypes
import HummingbirdCore
import Rules

/// The argument `request` of an endpoint's function.
///
/// Source: data-api.md §9.4.
struct EndpointRequest {
    let head: RequestHead
    let body: [UInt8]

    init(_ head: RequestHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    /// `{query, headers, body}`; of a parameter that comes twice the first counts, and `secret` is left out.
    var value: BSONValue {
        var query = BSONDocument()
        if head.target.utf8.contains(UInt8(ascii: "?")) {
            for (name, value) in URI(head.target).queryParameters where name != "secret" {
                let name = String(name)
                if query[name] == nil { query.append(name, .string(String(value))) }
            }
        }
        var headers = BSONDocument()
        for field in head.headers {
            let name = RuleRequest.canonicalCase(field.name.rawName)
            if case .array(let values)? = headers[name] {
                headers[name] = .array(values + [.string(field.value)])
            } else {
                headers.append(name, .array([.string(field.value)]))
            }
        }
        var document: BSONDocument = ["query": .document(query), "headers": .document(headers)]
        if !body.isEmpty { document.append("body", .binary(BSONBinary(subtype: 0, bytes: body))) }
        return .document(document)
    }
}
