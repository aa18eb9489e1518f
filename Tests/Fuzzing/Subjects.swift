import Foundation

/// Every subject that needs nothing but its input, and the files of seeds.
enum Subjects {
    static func all() throws -> [any FuzzSubject] {
        [
            JSONSubject(), BSONSubject(), try QuerySubject(), RulesSubject(), SchemaSubject(), AppSubject(),
            TokenSubject(), LoginSubject(), WatchSubject(), ArchiveSubject(),
        ]
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Corpus").path

    /// One seed a line.
    static func seeds(of subject: any FuzzSubject) throws -> [[UInt8]] {
        let text = try String(contentsOfFile: "\(folder)/\(subject.name).txt", encoding: .utf8)
        let lines = text.split(separator: "\n").map { Array($0.utf8) }
        return lines.map { subject.isBinary ? bytes($0) : $0 } + subject.moreSeeds
    }

    private static func bytes(_ digits: [UInt8]) -> [UInt8] {
        stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
    }
}
