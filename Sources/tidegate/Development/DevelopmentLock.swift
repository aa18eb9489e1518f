import Errors
import Foundation

/// One `tidegate dev` per data directory: a lock that ends with the process, and a file that says where it
/// listens.
final class DevelopmentLock: Sendable {
    /// What `server.json` holds.
    struct Addresses: Codable, Sendable {
        let pid: Int32
        let http: String
        let https: String
        let database: String
        /// Health, metrics and status; nil when they are turned off.
        let admin: String?
    }

    private let file: Int32
    private let announcement: URL

    /// - Throws: `InvalidSetting` that says where the other one listens.
    init(directory: URL) throws {
        announcement = directory.appendingPathComponent("server.json")
        let path = directory.appendingPathComponent("dev.lock").path
        file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            throw ServiceError(.invalidSetting, "cannot write \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let other = (try? Data(contentsOf: announcement)).flatMap {
                try? JSONDecoder().decode(Addresses.self, from: $0)
            }
            close(file)
            let place = other.map { " at \($0.http) and \($0.https), process \($0.pid)" } ?? ""
            throw ServiceError(
                .invalidSetting,
                "tidegate dev already runs in \(directory.path)\(place); stop it, or choose another --data-dir"
            )
        }
        try? FileManager.default.removeItem(at: announcement)
    }

    /// Says where we listen, for a second start and for tests.
    func announce(_ addresses: Addresses) {
        guard let text = try? JSONEncoder().encode(addresses) else { return }
        try? text.write(to: announcement, options: .atomic)
    }

    func release() {
        try? FileManager.default.removeItem(at: announcement)
        flock(file, LOCK_UN)
        close(file)
    }
}
