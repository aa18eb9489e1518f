import BSON
import Sync
import SyncModel
import TestSupport
import Testing

/// Others change more than an answer of the database may hold.
@Suite("Sync: large transactions", .serialized)
struct LargeTransactionTests {
    private static let documents = 60
    private static let bytes = 50_000

    /// An answer of the database may hold 4,000,000 bytes.
    private static let server = Task {
        try await RunningServer.start(
            app: SyncServer.files,
            name: "sync-large-transactions",
            arguments: ["--max-result-bytes", "1000000"]
        )
    }

    private static func sql(_ statement: String) async throws {
        try Shell.psql(try await server.value.database, statement)
    }

    private static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "6c6c6c6c6c6c6c6c" + String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }

    /// A long text that cannot be compressed, by a key's number `n` and what it is made of.
    private static func text(_ content: String) -> String {
        "(select string_agg(md5(\(content) || n || k), '') from generate_series(1, \(bytes / 32)) k)"
    }

    /// A device that has all documents.
    private func device() async throws -> ItemDevice {
        let api = APICaller(server: try await Self.server.value, app: "item-abcde")
        let user = try await api.newUser()
        try await Self.sql(
            """
            delete from todo."Item";
            insert into todo."Item" (doc) select jsonb_build_object('_id', jsonb_build_object('$oid',
                '6c6c6c6c6c6c6c6c' || lpad(to_hex(n), 8, '0')), 'ownerId', '\(user.id)', 'itemName', \(Self.text("'first'")),
                'complexity', 1) from generate_series(1, \(Self.documents)) n
            """
        )
        let device = try await ItemDevice.subscribed(api, user)
        #expect(device.client.file.state.objects.count == Self.documents)
        return device
    }

    /// Documents that others changed while the device had changes of them that it had not sent.
    private func meets(_ device: ItemDevice, afterwards statements: [String]) async throws {
        try device.meet()
        device.client.disconnect()
        for number in 1...Self.documents {
            try device.set(Self.id(number), "complexity", .int(Int64(number % 5)))
        }
        for statement in statements { try await Self.sql(statement) }
        try await device.client.meet()
        try device.meet()
        #expect(device.client.file.compensated.isEmpty)
        let stored = try Shell.psql(
            device.api.server.database,
            #"select doc->>'itemName' from todo."Item" order by doc->'_id'->>'$oid'"#
        ).split(separator: "\n")
        let numbers = try Shell.psql(
            device.api.server.database,
            #"select trunc((doc->>'complexity')::numeric) from todo."Item" order by doc->'_id'->>'$oid'"#
        ).split(separator: "\n")
        try #require(stored.count == Self.documents && numbers.count == Self.documents)
        for number in 1...Self.documents {
            let id = Self.id(number)
            #expect(numbers[number - 1] == "\(number % 5)")
            #expect(device.value(id, "complexity") == .plain(.int(Int64(number % 5))))
            #expect(stored[number - 1].utf8.count > Self.bytes - 32)
            #expect(device.value(id, "itemName") == .plain(.string(ByteText(String(stored[number - 1])))))
        }
        device.client.disconnect()
    }

    private static func change(_ content: String, _ numbers: ClosedRange<Int>) -> String {
        """
        update todo."Item" set doc = doc || jsonb_build_object('itemName', \(text("'\(content)'")))
            from generate_series(\(numbers.lowerBound), \(numbers.upperBound)) n
            where doc->'_id'->>'$oid' = '6c6c6c6c6c6c6c6c' || lpad(to_hex(n), 8, '0')
        """
    }

    @Test("one of them is told in parts, and merged with what a device had not sent")
    func one() async throws {
        try await meets(try await device(), afterwards: [Self.change("second", 1...Self.documents)])
    }

    @Test("many of them are merged with what a device had not sent")
    func many() async throws {
        try await meets(
            try await device(),
            afterwards: (0..<3).flatMap { round in
                (0..<4).map { Self.change("round \(round)", $0 * 15 + 1...$0 * 15 + 15) }
            }
        )
    }
}
