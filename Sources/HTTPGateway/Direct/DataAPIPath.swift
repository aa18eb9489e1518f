/// The path of an action of the Data API, `/app/{id}/endpoint/data/{version}/action/{action}`, read byte by byte.
///
/// It costs a fraction of what the router does, and the Data API is what most requests are for. What is spelt
/// unusually (escapes, a query, a slash at the end) is left to the router.
struct DataAPIPath: Sendable {
    let appID: String
    let version: String
    let action: String

    /// The route as the router has it.
    static let route = "/app/:appID/endpoint/data/:version/action/:action"
    /// The route as metrics and logs name it.
    static let pattern = "/app/{appID}/endpoint/data/{version}/action/{action}"

    init(appID: String, version: String, action: String) {
        self.appID = appID
        self.version = version
        self.action = action
    }

    /// nil for anything else.
    init?(_ path: String) {
        var path = path
        let parts = path.withUTF8 { bytes -> (String, String, String)? in
            var rest = bytes[...]
            guard Self.skip("/app/", in: &rest), let appID = Self.component(&rest),
                Self.skip("/endpoint/data/", in: &rest), let version = Self.component(&rest),
                Self.skip("/action/", in: &rest), let action = Self.component(&rest), rest.isEmpty
            else { return nil }
            return (appID, version, action)
        }
        guard let parts else { return nil }
        (appID, version, action) = parts
    }

    private static func skip(_ literal: StaticString, in rest: inout Slice<UnsafeBufferPointer<UInt8>>)
        -> Bool
    {
        let isThere = literal.withUTF8Buffer { rest.starts(with: $0) }
        if isThere { rest = rest.dropFirst(literal.utf8CodeUnitCount) }
        return isThere
    }

    /// What stands before the next slash: letters, digits, `-` and `_`, at least one.
    private static func component(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> String? {
        var end = rest.startIndex
        while end < rest.endIndex, rest[end] != UInt8(ascii: "/") {
            switch rest[end] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                end += 1
            default: return nil
            }
        }
        guard end > rest.startIndex else { return nil }
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }
}
