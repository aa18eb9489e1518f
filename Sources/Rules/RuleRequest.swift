public import BSON

/// What `%%request` expands to, and what functions see as `context.request`.
///
/// Source: `data-api.md` §9.4.
public struct RuleRequest: Sendable {
    /// The verb: `POST`.
    public var httpMethod: String?
    /// Lower-case name → values, in the order of arrival.
    public var headers: [(name: String, values: [String])]
    /// Without the leading `?` and without `secret`.
    public var rawQueryString: String?
    /// The caller's address, as the gateway trusts it.
    public var remoteIPAddress: String?
    /// The `Referer` header; absent when it was not sent.
    public var referrer: String?
    /// The `User-Agent` header; absent when it was not sent.
    public var userAgent: String?
    /// The service that was called, for example `mongodb-atlas`.
    public var service: String?
    /// The endpoint's function or the service's action.
    public var action: String?
    /// The endpoint's route.
    public var webhookUrl: String?

    /// What is left out is missing.
    public init(
        httpMethod: String? = nil,
        headers: [(name: String, values: [String])] = [],
        rawQueryString: String? = nil,
        remoteIPAddress: String? = nil,
        referrer: String? = nil,
        userAgent: String? = nil,
        service: String? = nil,
        action: String? = nil,
        webhookUrl: String? = nil
    ) {
        self.httpMethod = httpMethod
        self.headers = headers
        self.rawQueryString = rawQueryString
        self.remoteIPAddress = remoteIPAddress
        self.referrer = referrer
        self.userAgent = userAgent
        self.service = service
        self.action = action
        self.webhookUrl = webhookUrl
    }

    /// The request as a document with the keys that expansions use; what is unknown is left out.
    public var document: BSONDocument {
        var document = BSONDocument()
        let texts: [(String, String?)] = [
            ("httpMethod", httpMethod), ("httpReferrer", referrer), ("httpUserAgent", userAgent),
            ("rawQueryString", rawQueryString), ("remoteIPAddress", remoteIPAddress), ("service", service),
            ("action", action), ("webhookUrl", webhookUrl),
        ]
        for (key, text) in texts {
            if let text { document.append(key, .string(text)) }
        }
        document.append("requestHeaders", .document(headerDocument))
        return document
    }

    /// The request as `context.request` shows it to functions: names of headers in their canonical case.
    ///
    /// Source: `reference/data-api.md` §9.4.
    public var functionDocument: BSONDocument {
        var document = document
        var named = BSONDocument()
        for header in headers {
            let name = Self.canonicalCase(header.name)
            named[name] = .array((named[name]?.array ?? []) + header.values.map { .string($0) })
        }
        document["requestHeaders"] = .document(named)
        return document
    }

    /// `content-type` is `Content-Type`.
    public static func canonicalCase(_ header: String) -> String {
        var startsWord: UInt8 = 1
        // Names of headers are ASCII; what is not stays as it is.
        let bytes = header.utf8.map { byte -> UInt8 in
            defer { startsWord = byte == UInt8(ascii: "-") ? 1 : 0 }
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): return byte - 32 * startsWord
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): return byte + 32 * (1 - startsWord)
            default: return byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private var headerDocument: BSONDocument {
        var document = BSONDocument()
        for header in headers {
            let more = header.values.map { BSONValue.string($0) }
            let name = header.name.lowercased()
            document[name] = .array((document[name]?.array ?? []) + more)
        }
        return document
    }

    /// The names that may follow `%%request.`.
    static let memberNames: Set<String> = [
        "httpMethod", "httpReferrer", "httpUserAgent", "rawQueryString", "remoteIPAddress", "service",
        "action", "webhookUrl", "requestHeaders",
    ]
}
