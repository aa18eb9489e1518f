#if canImport(CMigrations)
import CMigrations

/// The files of `migrations/` inside the binary.
enum EmbeddedFiles {
    /// Name without `.sql`, and bytes.
    static var all: [(name: String, bytes: [UInt8])] {
        (0..<cmigration_count).compactMap { index in
            guard let file = cmigration_table()?[index], let name = file.name else { return nil }
            return (String(cString: name), Array(UnsafeBufferPointer(start: file.text, count: file.length)))
        }
    }
}
#else
/// The files of `migrations/` inside the binary.
enum EmbeddedFiles {
    /// Name without `.sql`, and bytes.
    static var all: [(name: String, bytes: [UInt8])] {
        [
            ("0001_apps", PackageResources._001_apps_sql),
            ("0002_collections", PackageResources._002_collections_sql),
            ("0003_accounts", PackageResources._003_accounts_sql),
        ]
    }
}
#endif
