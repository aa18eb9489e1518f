import AppDefinition
import Errors
import Foundation
import Glibc
import Postgres
import Services

/// Watches an app's directory, and has what changes in it served within a second.
///
/// It looks at names, sizes and times a few times a second: there is nothing to subscribe to that works on every
/// file system, and an app has few files.
struct AppWatch: Sendable {
    let directory: String
    let composition: Composition
    /// Takes the lines for the developer.
    var say: @Sendable (String) -> Void = { printToError($0) }

    private static let interval = Duration.milliseconds(200)

    /// Watches until its task is cancelled.
    func run() async {
        var served = (try? AppDirectory.read(directory)) ?? FileTree()
        var seen = signature()
        var said: String?
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            let now = signature()
            if now == seen { continue }
            seen = now
            do {
                let files = try AppDirectory.read(directory)
                let changes = Self.changes(from: served, to: files)
                if changes.isEmpty {
                    // As it is served again, after a fault that was undone.
                    if said != nil { say("the app is as it is served") }
                    said = nil
                    continue
                }
                let version = try await take(files)
                served = files
                said = nil
                say("reloaded, version \(version): \(changes.joined(separator: ", "))")
            } catch {
                let reason = (error as? ServiceError)?.message ?? error.localizedDescription
                if reason != said { say("not reloaded: \(reason)") }
                said = reason
            }
        }
    }

    /// Imports what is sound, and waits until this gateway serves it.
    private func take(_ files: FileTree) async throws -> Int64 {
        let report = AppReport(files)
        guard let app = report.app, let tree = report.tree else {
            throw Self.fault(report.findings.errors)
        }
        let faults = await composition.sources.faults(of: app)
        guard faults.isEmpty else { throw Self.fault(faults) }
        let result = try await AppStore(database: composition.database).import(tree, app)
        for name in result.missingSecrets {
            say("missing secret: select tidegate.set_secret('\(result.clientAppID)', '\(name)', '…');")
        }
        try await composition.apps.reload(id: result.id)
        return result.version
    }

    private static func fault(_ findings: [Finding]) -> ServiceError {
        let lines = findings.map(\.description).joined(separator: "\n  ")
        return ServiceError(.invalidAppDefinition, "the app stays as it was:\n  \(lines)")
    }

    /// `+`, `~` and `-` before the files that came, changed and went.
    static func changes(from old: FileTree, to new: FileTree) -> [String] {
        Set(old.paths).union(new.paths).sorted().filter { old[$0] != new[$0] }.map { path in
            (old[path] == nil ? "+ " : new[path] == nil ? "- " : "~ ") + path
        }
    }

    /// Names, sizes and times of all files; two that are equal are taken for the same files.
    ///
    /// The system is asked without Foundation, which asks for owners and attributes too: it happens some times a second.
    private func signature() -> [String: FileMark] {
        var marks: [String: FileMark] = [:]
        Self.collect(directory, into: &marks)
        return marks
    }

    private static func collect(_ folder: String, into marks: inout [String: FileMark]) {
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { bytes in
                bytes.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), name != "node_modules" else { continue }
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: collect(path, into: &marks)
            case S_IFREG:
                marks[path] = FileMark(
                    size: Int(status.st_size),
                    seconds: status.st_mtim.tv_sec,
                    nanoseconds: status.st_mtim.tv_nsec
                )
            default: break
            }
        }
    }

    private struct FileMark: Hashable {
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }
}
