import BSON
import Foundation
import Glibc
import Sync
import SyncModel
import TestSupport

/// A device among gateways that die: what it is told wrong is a violation, that a connection ends is not.
final class SyncChaosDevice {
    let client: RealmClient
    let name: String
    private let stage: Stage
    private var random: SeededRandom
    private(set) var reconnects = 0

    init(client: RealmClient, stage: Stage, seed: UInt64, name: String) {
        self.client = client
        self.stage = stage
        self.name = name
        random = SeededRandom(seed: seed)
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) - 1_420_070_400_000 }

    /// Sends everything and takes everything, however many connections it takes.
    func meet(_ ledger: Ledger) {
        let end = Date().addingTimeInterval(300)
        while Date() < end {
            guard ledger.violations.isEmpty else { return }
            let isDone = attempt(ledger) {
                if !client.isConnected { try connect() }
                client.upload()
                try client.catchUp()
                client.upload()
                // The answer to MARK is behind all that the server knew; what was integrated since is acknowledged
                // with it.
                if !client.file.unsent.isEmpty { try client.catchUp() }
            }
            if isDone, client.file.unsent.isEmpty { return }
            usleep(20_000)
        }
        ledger.violated("\(name) cannot send its changes")
    }

    /// Takes what has come, and connects again if that is how it is.
    func listen(_ ledger: Ledger) {
        _ = attempt(ledger) {
            try client.drain()
            if !client.isConnected { try connect() }
        }
    }

    /// Holds many objects, or few.
    func toggle(_ group: String) {
        let few = #"(g == "\#(group)")"#
        let isFew = client.file.subscriptions.newest.queries["T"] == few
        _ = try? client.subscribe(["T": isFew ? #"\#(few) OR (g == "\#(group)-bulk")"# : few])
    }

    private func connect() throws {
        let gateway = stage.gateways[random.below(stage.gateways.count)]
        client.url = "http://127.0.0.1:\(gateway.port)"
        try client.connect()
        reconnects += 1
    }

    /// - Returns: Whether nothing ended the connection.
    private func attempt(_ ledger: Ledger, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch let ended as RealmClient.Ended {
            if client.error?.body["action"]?.string != "Transient" { ledger.violated("\(name): \(ended)") }
        } catch is WireSocket.Closed {
        } catch is RawConnection.NotConnected {
        } catch {
            ledger.violated("\(name): \(error)")
        }
        client.disconnect()
        return false
    }
}
