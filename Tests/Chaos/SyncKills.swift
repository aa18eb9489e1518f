import BSON
import Foundation
import Glibc
import SQL
import Sync
import SyncModel
import TestSupport

/// Devices that sync while gateways and PostgreSQL are killed in the middle of uploads and bootstraps.
///
/// A device never forgets what it changed, so in the end every counter is the sum of what all devices added and
/// every list has each mark once: less means a lost changeset, more one that was applied twice.
final class SyncKills {
    private let stage: Stage
    private let ledger: Ledger
    private var random: SeededRandom
    private let group: String
    private let firstKey: Int64
    private var devices: [SyncChaosDevice] = []
    /// What all devices have added to the counter of each object.
    private var sums: [Int64: Int64] = [:]
    /// The marks that all devices have put into the list of each object.
    private var marks: [Int64: [String]] = [:]

    private static let objects: Range<Int64> = 0..<3
    /// Enough for several messages of a bootstrap.
    private static let bulk = 3000

    init(stage: Stage, ledger: Ledger, seed: UInt64) {
        self.stage = stage
        self.ledger = ledger
        random = SeededRandom(seed: seed)
        group = "kills-\(seed)"
        firstKey = Int64(seed % 1_000_000_000) * 1_000_000
    }

    func play(_ kills: Int) throws {
        try prepare()
        for number in 1...max(1, kills) {
            let (name, strike) = fault()
            burst(number)
            usleep(UInt32(random.below(60_000)))
            try strike()
            for device in devices { device.listen(ledger) }
            let total = sums.values.reduce(0, +)
            say("kill \(number), \(name): sum \(total), connections \(devices.map(\.reconnects))")
            if number % 5 == 0 || number == kills { try verify() }
            if !ledger.violations.isEmpty { return }
        }
        for device in devices { device.client.disconnect() }
    }

    private func fault() -> (String, () throws -> Void) {
        let victim = stage.gateways[random.below(stage.gateways.count)]
        switch random.below(4) {
        case 0: return ("PostgreSQL", { [stage] in try stage.database.crashAndRecover() })
        case 1:
            return (
                "a backend",
                { [stage, pick = random.below(1000)] in
                    // While PostgreSQL recovers there are none.
                    if let backends = try? stage.database.backends(), !backends.isEmpty {
                        kill(backends[pick % backends.count], SIGKILL)
                    }
                }
            )
        default:
            return (
                victim.name,
                {
                    victim.crash()
                    try victim.start()
                }
            )
        }
    }

    // MARK: Load

    private func prepare() throws {
        let login = "/api/client/v2.0/app/\(SyncModelApp.clientAppID)/auth/providers/anon-user/login"
        let answer = try PlainHTTP(port: stage.gateways[0].port).send("POST", login)
        guard let token = answer.object["access_token"] as? String else {
            throw Stage.Failure(what: "cannot log in: \(answer.body)")
        }
        let schema = try SyncModelApp.schema()
        for number in 0..<4 {
            let client = RealmClient(
                url: "",
                app: SyncModelApp.clientAppID,
                token: token,
                file: RealmFile(schema: schema)
            )
            devices.append(
                SyncChaosDevice(client: client, stage: stage, seed: random.next(), name: "d\(number)")
            )
        }
        for device in devices {
            device.meet(ledger)
            try device.client.subscribe(["T": #"(g == "\#(group)")"#])
            device.meet(ledger)
        }
        var changes: [Instruction] = []
        for key in Self.objects.map({ $0 + firstKey }) {
            changes += [.create(key), set(key, "g", group), set(key, "who", "all")]
            changes.append(Place("i", key: key).set(.int(0)))
        }
        try devices[0].client.file.write(at: SyncChaosDevice.now, changes)
        devices[0].meet(ledger)
        for device in devices { device.meet(ledger) }
        _ = try ask(
            """
            INSERT INTO todo."T" (doc) SELECT jsonb_build_object('_id', n, 'g', \(bind: .text(group + "-bulk")), \
            'who', 'all', 's', md5(n::text) || repeat(md5((n + 1)::text), 30)) \
            FROM generate_series(\(bind: .int(firstKey + 1000)), \
            \(bind: .int(firstKey + 1000 + Int64(Self.bulk) - 1))) AS n ON CONFLICT DO NOTHING
            """
        )
    }

    private func set(_ key: Int64, _ field: String, _ text: String) -> Instruction {
        Place(field, key: key).set(.text(text))
    }

    /// Everybody changes something, sends it and asks for other objects; nobody waits for an answer.
    private func burst(_ number: Int) {
        for device in devices {
            for change in 0...random.below(6) {
                let key = firstKey + Int64(random.below(Self.objects.count))
                let amount = Int64(1 + random.below(9))
                let mark = "\(device.name)-\(number)-\(change)"
                do {
                    try device.client.file.write(at: SyncChaosDevice.now) { state throws in
                        var size: UInt32 = 0
                        let object = state.objects[Place.object(key)]
                        if case .list(let list)? = object?[ByteText("li")] { size = UInt32(list.count) }
                        let changeset = Changeset([
                            Place("i", key: key).add(amount),
                            .arrayInsert(
                                ValueAddress(
                                    object: Place.object(key),
                                    field: ByteText("li"),
                                    path: [.index(random.oneIn(2) ? 0 : size)]
                                ),
                                .text(mark),
                                priorSize: size
                            ),
                        ])
                        try state.apply(changeset)
                        return changeset
                    }
                    sums[key, default: 0] += amount
                    marks[key, default: []].append(mark)
                } catch {
                    ledger.violated("\(device.name): \(error)")
                }
                if random.oneIn(3) { device.client.upload() }
            }
            device.client.upload()
            if random.oneIn(3) { device.toggle(group) }
        }
    }

    // MARK: The question

    private func verify() throws {
        stage.waitForService(ledger)
        for _ in 0..<2 { for device in devices { device.meet(ledger) } }
        let rows = try ask(
            #"SELECT doc FROM todo."T" WHERE doc->>'g' IN (\#(bind: .text(group)), \#(bind: .text(group + "-bulk")))"#
        )
        let documents = try rows.map { try StoredForm.read(Array($0[0].utf8), shape: nil) }
        let all = try RealmState(documents, of: ByteText("T"))
        for device in devices {
            var expected = all
            let holdsAll = device.client.file.subscriptions.active.queries["T"]?.contains("-bulk") == true
            expected.objects = all.objects.filter { holdsAll || isShared($0.key) }
            for difference in device.client.file.state.differences(from: expected).prefix(5) {
                ledger.violated("\(device.name): \(difference)")
            }
            if !device.client.file.unsent.isEmpty {
                ledger.violated("\(device.name): not all was acknowledged")
            }
        }
        for key in Self.objects.map({ $0 + firstKey }) {
            let object = all.objects[Place.object(key)] ?? [:]
            let sum = sums[key, default: 0]
            if object[ByteText("i")] != .plain(.int(sum)) {
                ledger.violated(
                    "the counter of \(key) is \(String(describing: object[ByteText("i")])), not \(sum)"
                )
            }
            var found: [String] = []
            if case .list(let list)? = object[ByteText("li")] {
                for case .plain(.string(let mark)) in list { found.append(mark.text) }
            }
            if found.sorted() != marks[key, default: []].sorted() {
                let lost = Set(marks[key, default: []]).subtracting(found)
                ledger.violated("\(key) has \(found.count) marks; missing: \(lost.sorted().prefix(5))")
            }
        }
    }

    /// Asks until PostgreSQL answers: what killed it last may take a while to mend.
    private func ask(_ statement: SQLFragment) throws -> [[String]] {
        for _ in 0..<5 {
            if let rows = try? stage.database.query(statement) { return rows }
        }
        return try stage.database.query(statement)
    }

    private func isShared(_ object: ObjectAddress) -> Bool {
        if case .int(let key) = object.key { key < firstKey + 1000 } else { false }
    }
}
