import COpenAPI
import Hummingbird

/// `GET /openapi/data-api.yaml` and `GET /openapi/client-api.yaml`: the contract, as built in.
struct DocumentRoutes {
    func add(to router: Router<GatewayContext>) {
        for index in 0..<copenapi_count {
            guard let document = copenapi_table()?[index], let name = document.name else { continue }
            let text = ByteBuffer(bytes: UnsafeBufferPointer(start: document.text, count: document.length))
            router.get("/openapi/\(String(cString: name))") { _, _ in
                Response(
                    status: .ok,
                    headers: [.contentType: "application/yaml"],
                    body: .init(byteBuffer: text)
                )
            }
        }
    }
}
