import COpenAPI
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /docs`, and the contract that it shows: `GET /openapi/data-api.yaml`, `.json` and the client API's.
///
/// All as built in; the JSON is made from the YAML once, when the routes are.
struct DocumentRoutes {
    func add(to router: Router<GatewayContext>) {
        let page = Page.docs
        router.get("/docs") { _, _ in page.response }
        for index in 0..<copenapi_count {
            guard let document = copenapi_table()?[index], let name = document.name else { continue }
            let bytes = UnsafeBufferPointer(start: document.text, count: document.length)
            let path = "/openapi/\(String(cString: name))"
            Self.add(ByteBuffer(bytes: bytes), "application/yaml", at: path, to: router)
            let json = ByteBuffer(bytes: OpenAPIDocument.json(String(decoding: bytes, as: UTF8.self)))
            Self.add(
                json,
                "application/json",
                at: path.replacing(".yaml", with: ".json"),
                to: router
            )
        }
    }

    private static func add(
        _ text: ByteBuffer,
        _ type: String,
        at path: String,
        to router: Router<GatewayContext>
    ) {
        router.get(RouterPath(path)) { _, _ in
            Response(status: .ok, headers: [.contentType: type], body: .init(byteBuffer: text))
        }
    }
}
