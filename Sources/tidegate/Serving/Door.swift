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
    /// Takes the connections in.
    ///
    /// Swift's pool of threads would be woken for every few of them, and would wait for its turn on the processors each
    /// time, and with it all who are to be taken in.
    var executor: (any TaskExecutor)?

    func run() async throws {
        do {
            try await withTaskExecutorPreference(executor) { try await server.run() }
        } catch let error as IOError {
            throw ServiceError(.invalidSetting, "\(setting): cannot listen on \(address): \(error)")
        }
    }
}
