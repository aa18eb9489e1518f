import Foundation
import TestSupport
import Testing
import TidegateClient

/// Issue 8, Show 1.
///
/// `make kit ROUNDS=200` does it in full.
@Suite("A share extension and its main app, killed at random", .timeLimit(.minutes(60)))
struct CrashTests {
    private struct Recording {
        let document: String
        let program: SampleProgram
    }

    @Test("every recorded operation is done once, in order, or set aside with a reason")
    func losesNothing() async throws {
        let stage = try await KitStage()
        try await stage.run("sample-main-app", "login")
        var random = SeededRandom(seed: UInt64(KitAmount.of("SEED", 1)))
        let rounds = KitAmount.of("ROUNDS", 8)
        let mark = UUID().uuidString
        var recordings: [Recording] = []
        func record(_ suffix: String) throws {
            let document = "\(mark)-\(recordings.count)\(suffix)"
            let program = try stage.start("sample-share-extension", ["record", document, "300", "8"])
            recordings.append(Recording(document: document, program: program))
        }
        var extensions = (0, 1)
        try record("")
        try record("-refused")
        var main = try stage.start("sample-main-app", ["run"])
        var kills = ["extension": 0, "main app": 0, "gateway": 0]
        for _ in 0..<rounds {
            try await Task.sleep(for: .milliseconds(.random(in: 20...400, using: &random)))
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                recordings[extensions.0].program.crash()
                extensions.0 = recordings.count
                try record("")
                kills["extension", default: 0] += 1
            case 1:
                recordings[extensions.1].program.crash()
                extensions.1 = recordings.count
                try record("-refused")
                kills["extension", default: 0] += 1
            case 2:
                main.crash()
                main = try stage.start("sample-main-app", ["run"])
                kills["main app", default: 0] += 1
            default:
                try await stage.stopGateway(Bool.random(using: &random) ? SIGKILL : SIGTERM)
                try await Task.sleep(for: .milliseconds(.random(in: 0...300, using: &random)))
                try await stage.startGateway()
                kills["gateway", default: 0] += 1
            }
        }
        for recording in recordings {
            recording.program.crash()
            try await eventually { recording.program.exitCode != nil }
        }
        main.crash()
        try await eventually { main.exitCode != nil }
        // Of 200 rounds some ten thousand operations wait, which is a matter of many minutes; the suite's limit bounds it.
        let draining = try stage.start("sample-main-app", ["drain"])
        while draining.exitCode == nil { try await Task.sleep(for: .milliseconds(50)) }
        #expect(draining.output.contains("end empty"), "\(draining.output) \(draining.errors)")
        let app = try stage.app()
        let user = try #require(app.currentUser)
        let queue = try DiskQueue(container: stage.container)
        let refused = try await queue.refused(for: .user(user)).map(\.operation.description)
        var operations = 0
        for recording in recordings {
            operations += try await check(recording, refused, user)
        }
        for operation in try await queue.refused(for: .user(user)) {
            #expect(operation.code == "NoMatchingRuleFound", "\(operation.reason)")
            #expect(!operation.reason.isEmpty)
        }
        print("kit: \(rounds) kills \(kills), \(operations) operations, \(refused.count) of them set aside")
        try await stage.remove()
    }

    @Test("what was done and never answered is asked for again, and done once")
    func lostAnswers() async throws {
        let stage = try await KitStage()
        try await stage.run("sample-main-app", "login")
        let document = UUID().uuidString
        try await stage.run("sample-share-extension", "record", document, "20", "0")
        let proxy = try ForgetfulProxy(before: stage.url, forgetting: 3)
        let drained = try await stage.run("sample-main-app", "drain", at: proxy.url)
        #expect(drained.hasPrefix("done 20 refused 0 end empty"))
        #expect(proxy.forgotten >= 6)
        let user = try #require(try stage.app().currentUser)
        let kept = try await user.mongoClient("mongodb-atlas").database(named: "todo")
            .collection(withName: "Open").findOne(filter: ["_id": .string(document)])
        #expect(kept?["numbers"]?.arrayValue?.compactMap(\.asInt) == Array(0..<20))
        try await stage.remove()
    }

    /// - Returns: How many operations were recorded.
    private func check(_ recording: Recording, _ refused: [String], _ user: User) async throws -> Int {
        let collection = user.mongoClient("mongodb-atlas").database(named: "todo").collection(
            withName: "Open"
        )
        let document = try await collection.findOne(filter: ["_id": .string(recording.document)])
        let done = document?["numbers"]?.arrayValue?.compactMap(\.asInt) ?? []
        // In order, and none twice.
        #expect(zip(done, done.dropFirst()).allSatisfy { $0 < $1 }, "\(recording.document): \(done)")
        let said = recording.program.recorded.map(\.number)
        let isRefused = { (number: Int) in recording.document.hasSuffix("refused") && number % 5 == 4 }
        #expect(!done.contains(where: isRefused))
        let setAside = refused.filter { $0.contains("\"\(recording.document)\"") }
        for number in said where isRefused(number) {
            let mark = #"{"numbers":{"$numberInt":"\#(number)"}}"#
            #expect(setAside.filter { $0.contains(mark) }.count == 1, "\(recording.document) \(number)")
        }
        let missing = Set(said.filter { !isRefused($0) }).subtracting(done)
        #expect(missing.isEmpty, "\(recording.document): \(missing)")
        // One may have been recorded whose word was never heard.
        #expect(done.count + setAside.count <= said.count + 1, "\(recording.document)")
        return done.count + setAside.count
    }
}
