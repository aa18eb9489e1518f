import Foundation

/// Prints a line at once, also where output goes to a file or a pipe.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
