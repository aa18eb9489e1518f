import Foundation
import Glibc
import SQL
import SyncModel
import TestSupport

/// What a run is played on: one PostgreSQL, a proxy in front of it, two gateways.
final class Stage: Sendable {
    static let poolSize = 8
    /// The pool, a listener each of apps, accounts and collections, and one more in the making.
    static let sessionsPerGateway = poolSize + 8
    /// Megabytes of a debug build; a leak of the load's bodies would pass it in a few rounds.
    static let memoryLimit = 400

    /// What kept a run from starting or going on.
    struct Failure: Error, CustomStringConvertible {
        let what: String
        var description: String { what }
    }

    let directory: String
    let database: DatabaseServer
    let proxy: FaultyProxy
    let gateways: [Gateway]
    let key: String

    init(binary: URL, directory: String) throws {
        self.directory = directory
        let files = FileManager.default
        try files.createDirectory(atPath: directory + "/proxy", withIntermediateDirectories: true)
        for (app, texts) in [("/app/", ChaosApp.files), ("/sync/", SyncModelApp.files)] {
            for (path, text) in texts {
                let file = URL(fileURLWithPath: directory + app + path)
                try files.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: file)
            }
        }
        database = DatabaseServer(directory: directory + "/postgres")
        try database.start()
        let direct = database.connectionString
        for arguments in [["migrate"], ["import", directory + "/app"], ["import", directory + "/sync"]] {
            let result = try Shell.run(binary, arguments + ["--database-url", direct])
            guard result.status == 0 else { throw Failure(what: result.output + result.errors) }
        }
        key = try database.query("SELECT key FROM tidegate.create_api_key('chaos-abcde', 'chaos')")[0][0]
        _ = try database.query("SELECT tidegate.enable_change_log('chaos', 'Items')")
        proxy = FaultyProxy(directory: directory + "/proxy", server: database.socketDirectory)
        let url = "host='\(directory)/proxy' user=postgres dbname=tidegate"
        gateways = ["gateway-1", "gateway-2"].map { name in
            Gateway(
                name: name,
                binary: binary,
                directory: directory,
                arguments: [
                    "--database-url", url, "--pool-size", String(Self.poolSize), "--request-timeout", "20",
                    "--admin-port", "off",
                ]
            )
        }
        for gateway in gateways { try gateway.start() }
    }

    /// Waits until every gateway serves again, by itself, and says so in the ledger when one does not.
    func waitForService(_ ledger: Ledger) {
        for gateway in gateways {
            let end = Date().addingTimeInterval(90)
            var last = "nothing"
            while true {
                last = probe(gateway)
                if last.isEmpty { break }
                if Date() > end || !gateway.isAlive {
                    ledger.violated("\(gateway.name) does not come back: \(last)\n\(gateway.logTail)")
                    break
                }
                usleep(50_000)
            }
        }
    }

    /// Empty when the gateway is ready, writes and reads.
    private func probe(_ gateway: Gateway) -> String {
        guard gateway.isAlive else { return "its process has ended" }
        let http = PlainHTTP(port: gateway.port)
        let name = "probe-\(UUID().uuidString)"
        do {
            let ready = try http.send("GET", "/ready")
            guard ready.status == 200 else { return ready.body }
            let written = try http.send(
                "insertOne",
                #""document":{"_id":"\#(name)","name":"\#(name)","n":1}"#,
                key: key
            )
            guard written.status == 201 else { return written.body }
            let read = try http.send("findOne", #""filter":{"_id":"\#(name)"}"#, key: key)
            return read.body.contains(name) ? "" : read.body
        } catch {
            return "\(error)"
        }
    }

    /// Ends everything that was started.
    func close() {
        for gateway in gateways where gateway.isAlive {
            gateway.signal(SIGCONT)
            gateway.crash()
        }
        database.stop()
    }
}
