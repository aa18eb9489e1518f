import BSON
import HTTPTypes
public import Hummingbird
import Logging
public import Observability

/// The operator's door: health, metrics, and a page that shows how things go.
///
/// It has an address of its own, since what it tells is nobody else's business, and so that it answers
/// while the public doors are busy. It changes nothing, and asks the database at most once a second.
public struct AdminGateway: Sendable {
    let telemetry: Telemetry
    let readiness: Readiness

    /// Made of what it shows.
    public init(telemetry: Telemetry, readiness: Readiness) {
        self.telemetry = telemetry
        self.readiness = readiness
    }

    /// Everything that the door answers.
    public func responder() -> some HTTPResponder<BasicRequestContext> {
        router().buildResponder()
    }

    func router() -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        router.get("/health") { _, _ in Response.json(["status": "ok"], .ok) }
        router.get("/ready") { _, _ in Self.readiness(of: await readiness.faults()) }
        router.get("/metrics") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: PrometheusText.contentType],
                body: .init(
                    byteBuffer: ByteBuffer(string: PrometheusText.render(telemetry.registry.families))
                )
            )
        }
        let page = Page.status
        router.get("/status") { _, _ in page.response }
        router.get("/status.json") { _, _ in
            let document = StatusDocument(telemetry: telemetry, faults: await readiness.faults())
            return Response.json(document.document, .ok)
        }
        return router
    }

    private static func readiness(of faults: [Readiness.Fault]) -> Response {
        guard !faults.isEmpty else { return Response.json(["status": "ready"], .ok) }
        var parts = BSONDocument()
        for fault in faults { parts.append(fault.part.rawValue, .string(fault.reason)) }
        var response = Response.json(
            ["status": "not ready", "faults": .document(parts)],
            .serviceUnavailable
        )
        response.headers[.retryAfter] = "1"
        return response
    }
}

extension Response {
    /// Ordinary JSON that nobody keeps.
    fileprivate static func json(_ document: BSONDocument, _ status: HTTPResponse.Status) -> Response {
        var bytes: [UInt8] = []
        PlainJSON.write(.document(document), to: &bytes)
        return Response(
            status: status,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
