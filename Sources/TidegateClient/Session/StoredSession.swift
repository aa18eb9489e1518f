import Foundation

/// What is kept of a user between runs, and shared by an app and its extensions.
struct StoredSession: Codable, Sendable, Equatable {
    let userID: String
    var accessToken: String
    let refreshToken: String
    let deviceID: String
    /// The provider of the login, such as `local-userpass`.
    let provider: String
}

/// The sessions of one app in a file: read and written whole, under a lock that all its processes share.
struct SessionStore: Sendable {
    struct Content: Codable, Equatable {
        var current: String?
        var sessions: [StoredSession] = []

        subscript(userID: String) -> StoredSession? {
            get { sessions.first { $0.userID == userID } }
            set {
                sessions.removeAll { $0.userID == userID }
                if let newValue { sessions.append(newValue) }
            }
        }
    }

    private let file: URL
    let lock: FileLock

    /// - Parameters:
    ///   - appID: Part of the file's name, so that apps can share a folder.
    ///   - folder: Made when it is not there.
    /// - Throws: When that cannot be.
    init(appID: String, folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let name = appID.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" }
        file = folder.appendingPathComponent("tidegate-\(String(name)).session")
        lock = FileLock(path: file.path + ".lock")
    }

    /// What stands in the file: it is replaced as a whole, so that reading needs no lock.
    func read() throws -> Content {
        guard FileManager.default.fileExists(atPath: file.path) else { return Content() }
        do {
            return try JSONDecoder().decode(Content.self, from: Data(contentsOf: file))
        } catch {
            throw TidegateError(.storage, "\(file.path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// Changes the file; the caller holds the lock.
    func write(_ held: borrowing FileLock.Held, _ change: (inout Content) -> Void) throws {
        var content = try read()
        let before = content
        change(&content)
        guard content != before else { return }
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try encoder.encode(content).write(to: file, options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            #if os(iOS)
            // An extension may run while the phone is locked.
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                ofItemAtPath: file.path
            )
            #endif
        } catch {
            throw TidegateError(.storage, "\(file.path) cannot be written: \(error.localizedDescription)")
        }
    }
}
