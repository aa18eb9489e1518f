import Foundation
import Glibc
import Synchronization
import TestSupport
import Threading

/// Load, faults in the middle of it, and then the question whether all that was promised is there.
struct Round {
    let number: Int
    let stage: Stage
    let ledger: Ledger
    let seconds: Int

    static let groupSize = 5

    /// The name of the group that a document belongs to, if it is one of `updateMany`'s.
    static func group(of name: String) -> String? {
        guard name.hasPrefix("group-") else { return nil }
        return name.split(separator: "-").prefix(2).joined(separator: "-")
    }

    /// Plays the round.
    func play(_ faults: [Fault], _ random: inout SeededRandom) throws {
        let shared = (0..<8).map { "shared-\(number)-\($0)" }
        let group = "group-\(number)"
        try prepare(shared, group)
        let isOver = Atomic(false)
        try withExtendedLifetime(isOver) {
            let workers = startWorkers(shared, group, &random) { isOver.load(ordering: .acquiring) }
            defer {
                isOver.store(true, ordering: .releasing)
                workers.wait()
            }
            let share = UInt32(seconds) * 1_000_000 / UInt32(faults.count + 1)
            for fault in faults {
                usleep(share)
                say("  \(fault.rawValue)")
                try fault.strike(stage, &random)
            }
            usleep(share)
        }
        stage.waitForService(ledger)
        try Verification(stage: stage, ledger: ledger).run()
    }

    private func startWorkers(
        _ shared: [String],
        _ group: String,
        _ random: inout SeededRandom,
        until isOver: @escaping @Sendable () -> Bool
    ) -> DispatchGroup {
        let running = DispatchGroup()
        for index in 0..<8 {
            let seed = random.next()
            running.enter()
            DedicatedThread.start(name: "worker-\(index)") { [self] in
                Worker(
                    name: "w\(number)-\(index)",
                    gateways: stage.gateways,
                    key: stage.key,
                    ledger: ledger,
                    seed: seed
                ).run(shared: shared, group: group, until: isOver)
                running.leave()
            }
        }
        return running
    }

    /// The documents that everybody changes, made while all is calm.
    private func prepare(_ shared: [String], _ group: String) throws {
        let members = (0..<Self.groupSize).map { "\(group)-\($0)" }
        let documents = (shared + members).map { name in
            #"{"_id":"\#(name)","name":"\#(name)","group":"\#(Self.group(of: name) ?? "")","n":0,"marks":[]}"#
        }
        let http = PlainHTTP(port: stage.gateways[0].port)
        let answer = try http.send(
            "insertMany",
            #""documents":[\#(documents.joined(separator: ","))]"#,
            key: stage.key
        )
        guard answer.status == 201 else { throw Stage.Failure(what: "cannot prepare: \(answer.body)") }
        for name in shared + members { ledger.share(name) }
    }
}
