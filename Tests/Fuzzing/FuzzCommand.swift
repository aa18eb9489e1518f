import ArgumentParser
import Foundation
import TestSupport

/// Hands what strangers might send to everything that reads it: the program `tidegate-fuzz`.
///
/// Built by itself it mutates seeds, without feedback, the same way for the same seed. Built with libFuzzer
/// (`make fuzz`) the compiler's coverage guides it.
#if !LIBFUZZER
@main
#endif
struct FuzzCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidegate-fuzz",
        abstract: "Feed mutated inputs to parsers, rules, queries and tokens."
    )

    @Option(name: .long, help: "Only this subject.") var subject: String?
    @Option(name: .long, help: "Inputs for each subject.") var runs = 20_000
    @Option(name: .long, help: "Names the inputs.") var seed: UInt64 = 1
    @Option(name: .long, help: "An empty, migrated database, to run queries there too.") var database: String?
    @Option(name: .long, help: "A gateway on this port of the loopback, to send requests to.") var port:
        UInt16?

    func run() throws {
        var subjects = try Subjects.all()
        if let database { subjects = [try DatabaseSubject(database)] }
        if let port { subjects = [HTTPSubject(port: port)] }
        if let subject { subjects = subjects.filter { $0.name == subject } }
        guard !subjects.isEmpty else { throw ValidationError("there is no subject '\(subject ?? "")'") }
        Guard.install()
        var findings = 0
        for subject in subjects { findings += try fuzz(subject) }
        if findings > 0 { throw ExitCode(1) }
    }

    /// How many different promises were broken.
    private func fuzz(_ subject: any FuzzSubject) throws -> Int {
        let seeds = try Subjects.seeds(of: subject)
        let mutator = Mutator(seeds: seeds, isBinary: subject.isBinary)
        var random = SeededRandom(seed: seed)
        var known: Set<String> = []
        var understood = 0
        for number in 0..<max(runs, seeds.count) {
            var input = number < seeds.count ? seeds[number] : seeds[random.below(seeds.count)]
            if number >= seeds.count { input = mutator.mutate(input, &random) }
            Guard.enter(input)
            do {
                if try subject.run(input) { understood += 1 }
            } catch let finding as Finding {
                // One example of a kind is enough; the values in it differ.
                let kind = String(finding.what.prefix(40))
                if known.count < 20, known.insert(kind).inserted {
                    let text =
                        subject.isBinary
                        ? input.map { String(format: "%02x", $0) }.joined()
                        : String(decoding: input, as: UTF8.self)
                    print("FINDING \(subject.name): \(finding.what)\n  on \(text)")
                }
            }
            Guard.leave()
        }
        let memory = Self.peakMegabytes
        print(
            "\(subject.name): \(max(runs, seeds.count)) inputs, \(understood) understood, \(known.count) findings, peak \(memory) MB"
        )
        if memory > 1500 {
            print("FINDING \(subject.name): needs \(memory) MB")
            return known.count + 1
        }
        return known.count
    }

    private static var peakMegabytes: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss / 1024
    }
}
