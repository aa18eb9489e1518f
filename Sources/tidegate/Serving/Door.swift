import Errors
import NIOCore
import ServiceLifecycle

/// A server on one address; when it cannot be opened, the error says which setting chose the address.
struct Door: Service {
    let server: any Service
    /// `127.0.0.1:9090`.
    let address: String
    /// `admin-port`.
    let setting: String

    func run() async throws {
        do {
            try await server.run()
        } catch let error as IOError {
            throw ServiceError(.invalidSetting, "\(setting): cannot listen on \(address): \(error)")
        }
    }
}
