import Foundation
import TestSupport
import Testing
import TidegateClient

/// Issue 8, Shows 2 to 4: what processes share.
@Suite("Processes that share a container", .timeLimit(.minutes(60)))
struct SharingTests {
    @Test("eight that record at once lose nothing")
    func recording() async throws {
        let stage = try await KitStage()
        try await stage.run("sample-main-app", "login")
        let each = KitAmount.of("OPERATIONS", 400) / 8
        let programs = try (0..<8).map { number in
            try stage.start("sample-share-extension", ["record", "document-\(number)", String(each), "0"])
        }
        for program in programs {
            try await eventually { program.exitCode != nil }
            #expect(program.exitCode == 0, "\(program.errors)")
            #expect(program.recorded.map(\.number) == Array(0..<each))
        }
        let queue = try DiskQueue(container: stage.container)
        let user = try #require(try stage.app().currentUser)
        #expect(try await queue.count(for: .user(user)) == each * 8)
        let times = programs.flatMap { $0.recorded.map(\.microseconds) }.sorted()
        let syncs = try Self.syncTimes(in: stage.container)
        func text(_ times: [Int]) -> String {
            let part = { (share: Double) in Double(times[Int(Double(times.count - 1) * share)]) / 1000 }
            return "p50 \(part(0.5)) ms, p99 \(part(0.99)) ms, most \(part(1)) ms"
        }
        print("kit: \(times.count) recorded by 8 processes: \(text(times)); fsync alone: \(text(syncs))")
        try await stage.remove()
    }

    /// What it takes the disk to make a page durable, in microseconds.
    private static func syncTimes(in folder: URL) throws -> [Int] {
        let file = folder.appendingPathComponent("sync.probe")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        return try (0..<200).map { _ in
            try handle.write(contentsOf: Data(repeating: 1, count: 4096))
            let start = ContinuousClock.now
            try handle.synchronize()
            return Int(start.duration(to: .now) / .microseconds(1))
        }.sorted()
    }

    @Test("app and extension refresh one session and neither is logged out")
    func refreshing() async throws {
        let stage = try await KitStage()
        try await stage.run("sample-main-app", "login")
        let each = String(KitAmount.of("REFRESHES", 40) / 2)
        let programs = [
            try stage.start("sample-main-app", ["refresh", each]),
            try stage.start("sample-share-extension", ["refresh", each]),
        ]
        for program in programs {
            try await eventually { program.exitCode != nil }
            #expect(program.exitCode == 0, "\(program.errors)")
            #expect(program.output == "refreshed \(each)\n")
        }
        let user = try #require(try stage.app().currentUser)
        let count = try await user.mongoClient("mongodb-atlas").database(named: "todo")
            .collection(withName: "Open").count(filter: ["_id": "nobody"])
        #expect(count == 0)
        try await stage.remove()
    }

    @Test("the extension shares while the gateway is away, and the main app delivers")
    func sharing() async throws {
        let stage = try await KitStage()
        try await stage.run("sample-main-app", "login")
        let text = UUID().uuidString
        let online = try await stage.run("sample-share-extension", "share", text)
        #expect(online.hasPrefix("done "))
        try await stage.stopGateway(SIGKILL)
        let offline = try await stage.run("sample-share-extension", "share", text)
        #expect(offline.hasPrefix("recorded "))
        try await stage.startGateway()
        #expect(try await stage.run("sample-main-app", "drain").hasPrefix("done 1 refused 0 end empty"))
        let user = try #require(try stage.app().currentUser)
        let collection = user.mongoClient("mongodb-atlas").database(named: "todo").collection(
            withName: "Open"
        )
        #expect(try await collection.count(filter: ["text": .string(text)]) == 2)
        try await stage.run("sample-main-app", "export", text)
        let shown = try await stage.run("sample-share-extension", "shown")
        #expect(shown.split(separator: "\n").filter { $0 == text }.count == 2)
        let empty = try await stage.run("sample-empty")
        let peak = { (output: String) in
            output.split(separator: "\n").last.flatMap { Int($0.dropFirst(5)) } ?? 0
        }
        let more = peak(online) - peak(empty)
        print("kit: one insert: \(more) kB beside the \(peak(empty)) kB of an empty Foundation program")
        // 25 MB in a release build; a debug build is larger.
        #expect(more > 0 && more < 40_000)
        try await stage.remove()
    }
}
