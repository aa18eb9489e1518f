import Foundation

/// Published case files, which are not part of the repository.
///
/// They lie in `../shared/cases` beside the package, or where `TIDEGATE_CASES` says. Suites that need them
/// are skipped, with a message, where they are absent.
public enum Corpus {
    /// Why a suite was skipped.
    public static let absence = "the published cases are absent; set TIDEGATE_CASES to their folder"

    private static let root: String = {
        if let path = ProcessInfo.processInfo.environment["TIDEGATE_CASES"] { return path }
        // Tests/TestSupport/Corpus.swift → the package → its parent
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { url.deleteLastPathComponent() }
        return url.appendingPathComponent("shared/cases").path
    }()

    /// The path of a folder of cases.
    public static func path(_ folder: String) -> String { root + "/" + folder }

    /// Whether a folder of cases can be read.
    public static func has(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: path(folder))
    }

    /// The names of the files of a folder with an extension, sorted; empty when it is absent.
    public static func files(_ folder: String, extension suffix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path(folder))) ?? []
        return names.filter { $0.hasSuffix("." + suffix) }.sorted()
    }

    /// The bytes of a file.
    public static func bytes(_ folder: String, _ file: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(folder) + "/" + file)))
    }
}
