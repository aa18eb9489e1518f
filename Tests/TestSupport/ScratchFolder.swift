public import Foundation
import Synchronization

/// Folders that go when the test process does: what servers wrote there would fill the disk within some runs.
public enum ScratchFolder {
    private static let made = Mutex<[URL]>([])
    private static let removeAtExit: Void = {
        atexit { ScratchFolder.removeAll() }
    }()

    /// Makes a folder whose name nobody else's begins like.
    public static func make(_ name: String) throws -> URL {
        let process = ProcessInfo.processInfo.processIdentifier
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tidegate-\(name)-\(process)"
        )
        _ = removeAtExit
        made.withLock { $0.append(folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    static func removeAll() {
        for folder in made.withLock({ $0 }) { try? FileManager.default.removeItem(at: folder) }
    }
}
