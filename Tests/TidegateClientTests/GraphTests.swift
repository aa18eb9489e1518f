import Foundation
import Testing

/// Issue 8, Show 5.
@Suite("What the client is made of")
struct GraphTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("imports nothing of the server's, nor an event loop")
    func imports() throws {
        let allowed: Set<String> = [
            "Darwin", "Foundation", "FoundationNetworking", "GRDB", "Glibc", "Musl", "Synchronization",
        ]
        let folder = Self.root.appendingPathComponent("Sources/TidegateClient")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            count += 1
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "import"), place < 2, !line.hasPrefix("/") else {
                    continue
                }
                #expect(allowed.contains(String(words[place + 1])), "\(file.lastPathComponent): \(line)")
            }
        }
        #expect(count > 20)
    }

    @Test("depends on GRDB alone, which depends on nothing")
    func dependencies() throws {
        let manifest = try String(
            contentsOf: Self.root.appendingPathComponent("Package.swift"),
            encoding: .utf8
        )
        let line = try #require(
            manifest.split(separator: "\n").first { $0.contains(#"room("TidegateClient""#) }
        )
        #expect(
            line.trimmingCharacters(in: .whitespaces)
                == #"room("TidegateClient", [product("GRDB", "GRDB.swift")]),"#
        )
    }
}
