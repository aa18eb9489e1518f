import Foundation
import GRDB

/// How the files are opened that an app and its extensions share.
enum SharedDatabase {
    /// A file in WAL mode whose every commit is on disk when it returns.
    static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(15)
        // An app that is suspended with a lock in a shared container is killed (0xdead10cc).
        configuration.observesSuspensionNotifications = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            // WAL alone would let the last transactions go with the power.
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -512")
        }
        #if os(iOS)
        // An extension may run while the phone is locked.
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                ofItemAtPath: path + suffix
            )
        }
        #endif
        return queue
    }
}
