import Glibc

/// A server that outlived the process which started it.
enum LeftoverServer {
    /// Stops the server that runs on a data directory, if there is one, or what is left of it.
    static func stop(dataDirectory: String) {
        if let id = server(on: dataDirectory) {
            end([(SIGINT, 1500), (SIGQUIT, 250), (SIGKILL, 250)]) {
                server(on: dataDirectory) == id ? [id] : []
            }
        }
        // Sessions that were at work when their postmaster was killed hold its shared memory, and no new
        // server starts beside them; they would notice only at the end of their statement.
        end([(SIGQUIT, 50), (SIGKILL, 250)]) { orphans(in: dataDirectory) }
    }

    private static func end(_ steps: [(signal: Int32, patience: Int)], _ processes: () -> [pid_t]) {
        for (signal, patience) in steps {
            let left = processes()
            guard !left.isEmpty else { return }
            for id in left { kill(id, signal) }
            for _ in 0..<patience where !processes().isEmpty { Pause.milliseconds(20) }
        }
    }

    /// Processes of PostgreSQL that work in a data directory.
    private static func orphans(in dataDirectory: String) -> [pid_t] {
        guard let listing = opendir("/proc") else { return [] }
        defer { closedir(listing) }
        var found: [pid_t] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let id = pid_t(name), works(id, in: dataDirectory), command(of: id) == "postgres" {
                found.append(id)
            }
        }
        return found
    }

    private static func command(of id: pid_t) -> String {
        let file = open("/proc/\(id)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = read(file, &bytes, 32)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self)
    }

    private static func works(_ id: pid_t, in dataDirectory: String) -> Bool {
        var here = stat()
        var there = stat()
        return stat("/proc/\(id)/cwd", &there) == 0 && stat(dataDirectory, &here) == 0
            && here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }

    /// The process named in `postmaster.pid`, if it is alive and works in that directory: a process id by
    /// itself may since have gone to another program.
    private static func server(on dataDirectory: String) -> pid_t? {
        let file = open(dataDirectory + "/postmaster.pid", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = read(file, &bytes, 32)
        let digits = bytes.prefix(max(0, count)).prefix { (48...57).contains($0) }
        guard let id = pid_t(String(decoding: digits, as: UTF8.self)), id > 1, works(id, in: dataDirectory)
        else { return nil }
        return id
    }
}
