/// A stack as the engine tells it, and as the log shows it.
///
/// Shape: `f@functions/a.js:2:7` a line, in the engine's text; `functions/a.js:2:7` here. The runtime's own
/// frames are left out, and the columns of a first line do not count what stands before the source there.
enum ScriptStack {
    /// What a function's source is wrapped into; all of it on the source's first line.
    static let opening = "(function(exports,context,module){(function(){"
    static let closing = "\n}).call(this);return exports})"
    /// The prefix of the files of an app's own.
    static let folder = "functions/"

    /// A recursion's end says no more in a hundred frames.
    private static let most = 30

    static func frames(of stack: String) -> String? {
        let frames = stack.split(separator: "\n").lazy.compactMap { frame($0) }.prefix(most)
        return frames.isEmpty ? nil : frames.joined(separator: "\n")
    }

    private static func frame(_ line: Substring) -> String? {
        let place = line.split(separator: "@", omittingEmptySubsequences: false).last ?? line
        let parts = place.split(separator: ":")
        guard parts.count >= 3, let row = Int(parts[parts.count - 2]),
            let column = Int(parts[parts.count - 1]),
            !place.hasPrefix("tidegate:")
        else { return nil }
        let file = parts.dropLast(2).joined(separator: ":")
        let shift = row == 1 && file.hasPrefix(folder) ? opening.utf16.count : 0
        return "\(file):\(row):\(max(1, column - shift))"
    }
}
