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
            guard rest.skip("/app/"), let appID = rest.component(),
                rest.skip("/endpoint/data/"), let version = rest.component(),
                rest.skip("/action/"), let action = rest.component(), rest.isEmpty
            else { return nil }
            return (appID, version, action)
        }
        guard let parts else { return nil }
        (appID, version, action) = parts
    }
}
