import Foundation

/// The most memory that this program has had.
public enum PeakMemory {
    /// In kilobytes; 0 where the system has no `/proc`.
    ///
    /// Not of `getrusage`, whose maximum begins with that of the program which started this one.
    public static var kilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
