import Errors
import Glibc

/// Where PostgreSQL's programs are, and how to run them as the right user.
struct ClusterTools: Sendable {
    /// The directory that holds `postgres` and `initdb`.
    let binaries: String
    /// The account to run as; nil: as ourselves.
    let account: ServerAccount?
    /// The path of `setpriv`, which changes the user and ties a child's life to ours.
    private let setpriv: String?

    /// Looks for the newest PostgreSQL of the system, then along `PATH`.
    ///
    /// - Throws: `invalidSetting`, saying what to install.
    static func find() throws(ServiceError) -> ClusterTools {
        guard let binaries = newestInstallation() ?? onPath("postgres") else {
            throw ServiceError(
                .invalidSetting,
                "PostgreSQL's programs were not found in /usr/lib/postgresql or on PATH; "
                    + "on Debian: apt-get install postgresql"
            )
        }
        let setpriv = onPath("setpriv").map { $0 + "/setpriv" }
        guard geteuid() == 0 else { return ClusterTools(binaries: binaries, account: nil, setpriv: setpriv) }
        guard let entry = getpwnam("postgres") else {
            throw ServiceError(
                .invalidSetting,
                "PostgreSQL refuses to run as root, and there is no user postgres to run it as"
            )
        }
        guard setpriv != nil else {
            throw ServiceError(
                .invalidSetting,
                "setpriv (util-linux) is needed to run PostgreSQL as user postgres"
            )
        }
        let account = ServerAccount(
            name: "postgres",
            user: entry.pointee.pw_uid,
            group: entry.pointee.pw_gid
        )
        return ClusterTools(binaries: binaries, account: account, setpriv: setpriv)
    }

    /// A command line for one of the programs.
    ///
    /// - Parameters:
    ///   - program: Its name in ``binaries``.
    ///   - arguments: Its arguments.
    ///   - endsWithUs: Whether the kernel is to interrupt it when the thread that starts it ends.
    /// - Returns: Path and arguments for ``ChildProcess``.
    func command(_ program: String, _ arguments: [String], endsWithUs: Bool) -> [String] {
        var line: [String] = []
        if let setpriv {
            if let account {
                line += ["--reuid=\(account.user)", "--regid=\(account.group)", "--init-groups"]
            }
            if endsWithUs { line += ["--pdeathsig=INT"] }
            if !line.isEmpty { line = [setpriv] + line + ["--"] }
        }
        return line + [binaries + "/" + program] + arguments
    }

    private static func newestInstallation() -> String? {
        let root = "/usr/lib/postgresql"
        guard let listing = opendir(root) else { return nil }
        defer { closedir(listing) }
        var newest = 0
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let version = Int(name), version > newest,
                access("\(root)/\(name)/bin/postgres", X_OK) == 0
            {
                newest = version
            }
        }
        return newest > 0 ? "\(root)/\(newest)/bin" : nil
    }

    private static func onPath(_ program: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map(String.init)
            .first { access($0 + "/" + program, X_OK) == 0 }
    }
}
