import CPages
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A web page in one piece: its styles and scripts are in it, and nothing else may load or run.
///
/// The policy names style and script by their digests, so that markup which slipped into the page could do
/// nothing. Scripts may ask this server, and nobody else.
struct Page: Sendable {
    private let body: ByteBuffer
    private let policy: String

    /// The contract, for people.
    static let docs = Page(
        "docs.html",
        styles: ["common.css", "docs.css"],
        scripts: ["common.js", "docs-schema.js", "docs.js"]
    )
    /// How the server does.
    static let status = Page(
        "status.html",
        styles: ["common.css", "status.css"],
        scripts: ["common.js", "status-plot.js", "status.js"]
    )

    private init(_ name: String, styles: [String], scripts: [String]) {
        let style = styles.map(Self.file).joined()
        let script = scripts.map(Self.file).joined()
        let text = Self.file(name)
            .replacing("<!--styles-->", with: "<style>\(style)</style>")
            .replacing("<!--scripts-->", with: "<script>\(script)</script>")
        body = ByteBuffer(string: text)
        policy = [
            "default-src 'none'", "style-src \(Self.source(style))", "script-src \(Self.source(script))",
            "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    var response: Response {
        var headers = HTTPFields()
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.contentSecurityPolicy] = policy
        headers[.xContentTypeOptions] = "nosniff"
        headers[.referrerPolicy] = "no-referrer"
        headers[.cacheControl] = "no-cache"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: body))
    }

    private static func source(_ text: String) -> String {
        "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
    }

    /// A file of `CPages/pages`, which is there since the program was built with it.
    private static func file(_ name: String) -> String {
        for index in 0..<cpages_count {
            guard let file = cpages_table()?[index], String(cString: file.name) == name else { continue }
            return String(
                decoding: UnsafeBufferPointer(start: file.text, count: file.length),
                as: UTF8.self
            )
        }
        preconditionFailure("no such page: \(name)")
    }
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = staticName("Referrer-Policy")
}
