#if LIBFUZZER
import Foundation

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ callback: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

nonisolated(unsafe) private var subject: (any FuzzSubject)?

/// `tidegate-fuzz SUBJECT FOLDER [libFuzzer's flags]`: writes the seeds to the folder and lets libFuzzer begin.
@main
enum LibFuzzer {
    static func main() throws {
        let name = CommandLine.arguments[1]
        let folder = CommandLine.arguments[2]
        guard let chosen = try Subjects.all().first(where: { $0.name == name }) else {
            fatalError("there is no subject \(name)")
        }
        subject = chosen
        // libFuzzer knows nothing of Swift's traps, and leaves handlers alone that are there before its own.
        Guard.install(keepingIn: "\(folder)-finding")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (index, seed) in try Subjects.seeds(of: chosen).enumerated() {
            try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(index)"))
        }
        let words = [CommandLine.arguments[0]] + CommandLine.arguments.dropFirst(2)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) }
        arguments.append(nil)
        var count = CInt(arguments.count - 1)
        let status = arguments.withUnsafeMutableBufferPointer { buffer in
            guard var base = buffer.baseAddress else { return CInt(1) }
            return runDriver(&count, &base) { bytes, length in
                let input = Array(UnsafeBufferPointer(start: bytes, count: length))
                Guard.enter(input)
                defer { Guard.leave() }
                do {
                    _ = try subject?.run(input)
                } catch {
                    fatalError("\(error)")
                }
                return 0
            }
        }
        exit(status)
    }
}
#endif
