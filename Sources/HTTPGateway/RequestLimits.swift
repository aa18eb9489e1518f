public import BSON
import Errors
public import MQL

/// How much one request may hold, by the names of the settings.
///
/// Sizes are checked while the request is read and parsed, before anything is asked of the database.
public struct RequestLimits: Sendable {
    /// Bytes of the body.
    ///
    /// Source: data-api.md §11.
    public var bodyBytes: Int
    /// Bytes of the URL, the query included.
    public var urlBytes: Int
    /// Bytes of all header fields.
    public var headerBytes: Int
    /// How many header fields there may be.
    public var headerFields: Int
    /// What bodies are read with: depth, values, arrays, names.
    public var read: ReadLimits
    /// What filters, updates and pipelines may ask.
    public var parse: ParseLimits

    /// The defaults, but for what is given.
    public init(
        bodyBytes: Int = 18 * 1024 * 1024,
        urlBytes: Int = 8192,
        headerBytes: Int = 80 * 1024,
        headerFields: Int = 200,
        read: ReadLimits = .request,
        parse: ParseLimits = .standard
    ) {
        self.bodyBytes = bodyBytes
        self.urlBytes = urlBytes
        self.headerBytes = headerBytes
        self.headerFields = headerFields
        self.read = read
        self.parse = parse
    }

    /// - Throws: `BadRequest` for a URL past the limit.
    func check(url: String) throws(ServiceError) {
        guard url.utf8.count > urlBytes else { return }
        throw ServiceError(.badRequest, "the URL is longer than \(urlBytes) bytes (limit max-url-bytes)")
    }
}
