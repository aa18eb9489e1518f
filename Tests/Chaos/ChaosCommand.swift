import ArgumentParser
import Foundation
import Glibc
import TestSupport

/// Looks whether what was acknowledged survives what happens to servers: the program `tidegate-chaos`.
///
/// Two real gateways on one real PostgreSQL under load, faults at random, and after each round a comparison of
/// every answer with the database. The seed names the faults and the load; their timing is the machine's.
@main
struct ChaosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidegate-chaos",
        abstract: "Break gateways and PostgreSQL under load, and look for broken promises."
    )

    @Option(name: .long, help: "How many rounds.") var rounds = 5
    @Option(name: .long, help: "Names the faults and the load (default: by the clock).") var seed: UInt64?
    @Option(name: .long, help: "Seconds of load in a round, without what the faults take.") var seconds = 3
    @Option(name: .long, help: "Only this fault, by its name in the source.") var only: String?
    @Option(name: .long, help: "Instead of rounds: kill so many times while devices sync.") var kills: Int?
    @Option(name: .long, help: "Instead of rounds: let devices converge, by so many random scripts.")
    var scripts: UInt64?
    @Option(name: .long, help: "The tidegate to run (default: the one beside this program).") var binary:
        String?
    @Option(name: .long, help: "Where files go (default: a folder in /tmp).") var directory: String?
    @Flag(name: .long, help: "Leave logs and data behind.") var keep = false

    func run() throws {
        let seed = seed ?? UInt64(Date().timeIntervalSince1970)
        if let scripts { return try SyncScripts(first: self.seed ?? 1, count: scripts).run() }
        let directory = directory ?? "/tmp/tidegate-chaos-\(getpid())"
        say("seed \(seed), files in \(directory)")
        var random = SeededRandom(seed: seed)
        let stage = try Stage(binary: try tidegate(), directory: directory)
        let ledger = Ledger()
        defer {
            stage.close()
            if !keep && ledger.violations.isEmpty { try? FileManager.default.removeItem(atPath: directory) }
        }
        stage.waitForService(ledger)
        if let kills {
            try SyncKills(stage: stage, ledger: ledger, seed: seed).play(kills)
        } else {
            try playRounds(stage, ledger, &random)
        }
        for violation in ledger.violations.prefix(40) { say("VIOLATION \(violation)") }
        guard ledger.violations.isEmpty else {
            for gateway in stage.gateways { say("--- \(gateway.name)\n\(gateway.logTail)") }
            throw ExitCode(1)
        }
        say("\(kills.map { "\($0) kills" } ?? "\(rounds) rounds"), every promise kept")
    }

    private func playRounds(_ stage: Stage, _ ledger: Ledger, _ random: inout SeededRandom) throws {
        var deck: [Fault] = []
        let start = Date()
        for number in 1...max(1, rounds) {
            say("round \(number), \(Int(Date().timeIntervalSince(start))) s")
            if deck.count < 3 { deck += try faults().shuffled(using: &random) }
            let faults = Array(deck.suffix(3))
            deck.removeLast(faults.count)
            try Round(number: number, stage: stage, ledger: ledger, seconds: seconds).play(faults, &random)
            say(
                "  \(ledger.summary); memory \(stage.gateways.map { "\($0.memory) MB" }.joined(separator: ", "))"
            )
            if !ledger.violations.isEmpty { break }
        }
    }

    private func faults() throws -> [Fault] {
        guard let only else { return Fault.allCases }
        guard let fault = Fault.allCases.first(where: { "\($0)" == only }) else {
            throw ValidationError("there is no fault '\(only)'")
        }
        return [fault, fault, fault]
    }

    private func tidegate() throws -> URL {
        if let binary { return URL(fileURLWithPath: binary) }
        return RunningServer.binary
    }
}
