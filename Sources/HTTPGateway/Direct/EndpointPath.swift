/// The path of a request of an endpoint, `/app/{id}/endpoint/…`, read byte by byte.
///
/// What is spelt unusually, escapes among them, is left to the router, and so is the Data API with a query.
public struct EndpointPath: Sendable {
    let appID: String
    /// What follows `/endpoint`, without the query.
    let route: String

    /// Whether a request that begins with these bytes calls an endpoint, as far as they tell.
    public static func isCalled(by bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let space = bytes.firstIndex(of: UInt8(ascii: " ")) else { return false }
        var rest = bytes[(space + 1)...]
        return rest.skip("/app/") && rest.component() != nil && rest.skip("/endpoint/") && !rest.skip("data/")
    }

    /// nil for anything else.
    init?(_ path: String) {
        var path = path
        let parts = path.withUTF8 { bytes -> (String, String)? in
            var rest = bytes[...]
            guard rest.skip("/app/"), let appID = rest.component(), rest.skip("/endpoint") else { return nil }
            let route = rest.prefix { $0 != UInt8(ascii: "?") }
            guard rest.skip("/"), let first = rest.first,
                first != UInt8(ascii: "/"), first != UInt8(ascii: "?"),
                !rest.starts(with: "data/".utf8),
                !route.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "#") })
            else { return nil }
            return (appID, String(decoding: route, as: UTF8.self))
        }
        guard let parts else { return nil }
        (appID, route) = parts
    }
}
