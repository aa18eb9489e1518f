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
