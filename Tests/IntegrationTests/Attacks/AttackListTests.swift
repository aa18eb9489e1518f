import Foundation
import TestSupport
import Testing

/// The table of attacks and the tests are one set.
@Suite("The list of attacks")
struct AttackListTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: RunningServer.packageRoot.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("names tests that are there, and every suite of this folder")
    func names() throws {
        let table = try Self.text("Tests/IntegrationTests/Attacks/README.md")
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2)
        #expect(rows.count >= 30)
        var named: Set<String> = []
        for row in rows {
            let tests = row.matches(of: /`([A-Za-z]+Tests)\.([A-Za-z]+)`/).map { "\($0.1).\($0.2)" }
            #expect(!tests.isEmpty || row.contains("not yet: issue "), "\(row)")
            named.formUnion(tests)
        }
        var present: Set<String> = []
        let root = RunningServer.packageRoot.appendingPathComponent("Tests")
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var attacks: Set<String> = []
        for case let file as URL in files where file.lastPathComponent.hasSuffix("Tests.swift") {
            let suite = file.deletingPathExtension().lastPathComponent
            if file.path.contains("/Attacks/") { attacks.insert(suite) }
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            var isTest = false
            for line in lines {
                let code = line.drop { $0 == " " }
                if code.hasPrefix("@Test") { isTest = true }
                guard isTest, code.hasPrefix("func "),
                    let name = code.dropFirst(5).split(separator: "(").first
                else { continue }
                present.insert("\(suite).\(name)")
                isTest = false
            }
        }
        #expect(named.subtracting(present) == [], "named, and not there")
        let suites = Set(named.compactMap { $0.split(separator: ".").first.map(String.init) })
        #expect(attacks.subtracting(suites).subtracting(["AttackListTests"]) == [], "there, and not named")
    }

    @Test("leaves no update operator and no restricted stage out")
    func operators() throws {
        let operators = try Self.text("Sources/MQL/Update/UpdateOperatorParser.swift")
        let known = Set(operators.matches(of: /case [a-zA-Z]+ = "(\$[a-zA-Z]+)"/).map { String($0.1) })
        #expect(known.count >= 15)
        #expect(known.subtracting(RuleEscapeTests.carriers.keys) == [])
        let stages = try Self.text("Sources/MQL/Pipeline/RestrictedOperators+Pipeline.swift")
        let restricted = Set(stages.matches(of: /"(\$[a-zA-Z]+)"/).map { String($0.1) })
        #expect(restricted.count >= 8)
        for stage in restricted {
            #expect(PipelineBarrierTests.forbidden.contains { $0.contains("{\"\(stage)\"") }, "\(stage)")
        }
    }
}
