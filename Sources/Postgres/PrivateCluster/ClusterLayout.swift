import Errors
import Glibc

/// Where the parts of a private cluster lie, and making the directories with the right owner.
struct ClusterLayout: Sendable {
    let directory: String
    let dataDirectory: String
    let freshDirectory: String
    let logFile: String
    let lockFile: String
    let socketDirectory: String

    /// Lays a cluster out under a directory, given as an absolute path or relative to the working directory.
    init(directory: String) {
        let absolute = directory.hasPrefix("/") ? directory : Self.workingDirectory + "/" + directory
        self.directory = absolute
        dataDirectory = absolute + "/data"
        freshDirectory = absolute + "/data.new"
        logFile = absolute + "/postgres.log"
        lockFile = absolute + "/lock"
        // The address of a Unix socket holds 107 bytes.
        let socket = absolute + "/socket"
        let fits = socket.utf8.count + "/.s.PGSQL.5432".utf8.count <= 107
        socketDirectory = fits ? socket : "/tmp/tidegate-" + Self.digest(absolute)
    }

    /// Whether a cluster has been made here.
    var isInitialized: Bool { access(dataDirectory + "/PG_VERSION", F_OK) == 0 }

    /// Makes the directories; what the server needs belongs to the account it runs as.
    func prepare(owner: ServerAccount?) throws(ServiceError) {
        try Self.make(directory, owner: nil)
        if let owner { try checkReach(of: owner) }
        // Whoever reaches the socket is the superuser, so nobody else may.
        try Self.make(socketDirectory, owner: owner, mode: 0o700)
        let log = open(logFile, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
        guard log >= 0 else { throw Self.failure("cannot write \(logFile)") }
        close(log)
        // The server opens nothing here by itself, but `initdb` writes to the log as that user.
        if let owner { _ = chown(logFile, owner.user, owner.group) }
    }

    /// Removes the socket's directory when it had to lie elsewhere; nobody would look for it there.
    func removeFarSocketDirectory() {
        if !socketDirectory.hasPrefix(directory + "/") { rmdir(socketDirectory) }
    }

    /// Makes the directory in which `initdb` works, without what an earlier attempt left there.
    func prepareFresh(owner: ServerAccount?) throws(ServiceError) {
        Self.removeTree(freshDirectory)
        try Self.make(freshDirectory, owner: owner, mode: 0o700)
    }

    /// Moves a finished cluster to its place.
    func adoptFresh() throws(ServiceError) {
        guard rename(freshDirectory, dataDirectory) == 0 else {
            throw Self.failure("cannot move the new cluster to \(dataDirectory)")
        }
    }

    /// Empties a log that has grown past 10 MB.
    func trimLog() {
        var status = stat()
        guard stat(logFile, &status) == 0, status.st_size > 10 << 20 else { return }
        _ = truncate(logFile, 0)
    }

    /// The last 2000 bytes of the server's log.
    func logTail() -> String {
        let file = open(logFile, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let size = lseek(file, 0, SEEK_END)
        _ = lseek(file, max(0, size - 2000), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: 2000)
        let count = read(file, &bytes, 2000)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Every directory above must let the server's account through.
    private func checkReach(of owner: ServerAccount) throws(ServiceError) {
        var path = directory
        while !path.isEmpty {
            var status = stat()
            let isOpen =
                stat(path, &status) == 0
                && (status.st_mode & S_IXOTH != 0
                    || (status.st_uid == owner.user && status.st_mode & S_IXUSR != 0))
            guard isOpen else {
                throw ServiceError(
                    .invalidSetting,
                    "PostgreSQL runs as user \(owner.name), which may not enter \(path); "
                        + "choose another data directory or run chmod o+x \(path)"
                )
            }
            guard let slash = path.lastIndex(of: "/") else { return }
            path = String(path[..<slash])
        }
    }

    private static func make(
        _ path: String,
        owner: ServerAccount?,
        mode: mode_t = 0o755
    ) throws(ServiceError) {
        var built = ""
        for part in path.split(separator: "/") {
            built += "/" + part
            guard mkdir(built, built == path ? mode : 0o755) == 0 || errno == EEXIST else {
                throw failure("cannot make the directory \(built)")
            }
        }
        var status = stat()
        guard (mode == 0o755 ? stat(path, &status) : lstat(path, &status)) == 0,
            status.st_mode & S_IFMT == S_IFDIR
        else {
            throw ServiceError(.invalidSetting, "\(path) is not a directory")
        }
        if let owner, status.st_uid != owner.user {
            guard chown(path, owner.user, owner.group) == 0 else {
                throw failure("cannot give \(path) to user \(owner.name)")
            }
        }
        guard mode == 0o755 || chmod(path, mode) == 0 else {
            throw failure("cannot close \(path) to others")
        }
    }

    /// Removes a directory and what is in it; symbolic links are removed, not followed.
    static func removeTree(_ path: String) {
        guard let listing = opendir(path) else { return }
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            let child = path + "/" + name
            var status = stat()
            if lstat(child, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                removeTree(child)
            } else {
                unlink(child)
            }
        }
        closedir(listing)
        rmdir(path)
    }

    private static var workingDirectory: String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }

    /// FNV-1a; names a directory, guards nothing.
    private static func digest(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }

    private static func failure(_ message: String) -> ServiceError {
        ServiceError(.invalidSetting, "\(message): \(String(cString: strerror(errno)))")
    }
}

/// The system account that the server runs as when we are root.
struct ServerAccount: Sendable {
    let name: String
    let user: uid_t
    let group: gid_t
}
