import Foundation
import Testing

/// A copy of a file's open descriptor, as a program has one between its fork and its exec: for locks, which
/// live as long as any copy unless they are given up.
///
/// - Throws: When this process does not have the file open.
public func copyDescriptor(of path: String) throws -> Int32 {
    let opened = "/proc/self/fd"
    let number = try FileManager.default.contentsOfDirectory(atPath: opened).first {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(opened)/\($0)")) == path
    }
    let copy = dup(try #require(number.flatMap { Int32($0) }))
    try #require(copy >= 0)
    return copy
}
