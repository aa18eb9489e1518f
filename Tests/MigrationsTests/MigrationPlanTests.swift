import Errors
import Foundation
import Migrations
import Testing

@Suite("Migration plan")
struct MigrationPlanTests {
    private func file(_ number: Int, _ name: String, _ text: String = "SELECT 1") throws -> Migration {
        try Migration(fileName: "000\(number)_\(name).sql", bytes: Array(text.utf8))
    }

    private func row(_ migration: Migration) -> MigrationPlan.Applied {
        .init(number: migration.number, name: migration.name, checksum: migration.checksum)
    }

    @Test("has due what is not applied, in order")
    func hasDue() throws {
        let files = [try file(3, "c"), try file(1, "a"), try file(2, "b")]
        let plan = try MigrationPlan(available: files, applied: [row(files[1])])
        #expect(plan.due.map(\.number) == [2, 3])
        #expect(try MigrationPlan(available: files, applied: files.map(row)).due.isEmpty)
    }

    @Test("refuses an applied migration that was edited")
    func refusesEdited() throws {
        let applied = row(try file(1, "a", "SELECT 1"))
        let error = #expect(throws: ServiceError.self) {
            try MigrationPlan(available: [try file(1, "a", "SELECT 1 ")], applied: [applied])
        }
        #expect(error?.code == .migrationDrift)
        #expect(error?.message.contains("1 (a) was changed") == true)
    }

    @Test("refuses a database that is newer, a renamed file, and a late one, and names them all")
    func refusesOthers() throws {
        let error = #expect(throws: ServiceError.self) {
            try MigrationPlan(
                available: [try file(1, "new"), try file(2, "late")],
                applied: [
                    .init(number: 1, name: "old", checksum: "x"), .init(number: 3, name: "c", checksum: "x"),
                ]
            )
        }
        #expect(error?.code == .migrationDrift)
        for part in ["1 (old) is called new", "3 (c) is applied but unknown", "2 (late) comes before"] {
            #expect(error?.message.contains(part) == true)
        }
    }

    @Test("takes the checksum over the bytes")
    func takesChecksum() throws {
        #expect(
            try file(1, "a", "abc").checksum
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }

    @Test("refuses other files", arguments: ["a.sql", "0001.sql", "x001_a.sql", "0000_a.sql", "_a.sql"])
    func refusesNames(name: String) {
        let error = #expect(throws: ServiceError.self) { try Migration(fileName: name, bytes: []) }
        #expect(error?.code == .invalidSetting)
    }

    @Test("refuses text that is not UTF-8", arguments: [[0xff], [0x41, 0]] as [[UInt8]])
    func refusesBytes(bytes: [UInt8]) {
        #expect(throws: ServiceError.self) { try Migration(fileName: "0001_a.sql", bytes: bytes) }
    }

    @Test("has in the binary what lies in the directory")
    func embedsDirectory() throws {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().resolvingSymlinksInPath()
            .appending(path: "../../migrations").standardizedFileURL.path
        let files = try Migration.read(directory: directory)
        #expect(!files.isEmpty)
        #expect(try Migration.embedded() == files)
    }
}
