internal import CScriptRuntime

/// The JavaScript part of the runtime, inside the binary.
enum RuntimeFiles {
    /// The text of a file by its name, such as `core` or `node/path`.
    static func text(_ name: String) -> String? { table[name] }

    private static let table: [String: String] = {
        let files = UnsafeBufferPointer(start: cscript_table(), count: cscript_count)
        return Dictionary(
            uniqueKeysWithValues: files.map { file in
                let bytes = UnsafeBufferPointer(start: file.text, count: file.length)
                return (String(cString: file.name), String(decoding: bytes, as: UTF8.self))
            }
        )
    }()
}
