import BSON
import Errors
import MQL
import Postgres
import SQL
import Synchronization
import TestSupport
import Testing

@testable import Services

@Suite("Documents in a stream")
struct DocumentSplitterTests {
    /// Cuts a text that arrives in pieces of a size.
    private func pieces(_ text: String, by size: Int) -> [String] {
        var splitter = DocumentSplitter()
        var result: [String] = []
        func drain() {
            while let piece = splitter.next() {
                switch piece {
                case .document(let bytes, let line):
                    result.append("\(line): \(String(decoding: bytes, as: UTF8.self))")
                case .broken(let line, let reason): result.append("\(line)! \(reason)")
                }
            }
        }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            splitter.append(Array(bytes.prefix(size)))
            bytes = bytes.dropFirst(size)
            drain()
        }
        splitter.finish()
        drain()
        return result
    }

    @Test(
        "it cuts lines and arrays, however they arrive",
        arguments: [
            ("", []),
            (" \n\n", []),
            ("{}", ["1: {}"]),
            ("{\"a\":1}\n\n  \n{\"b\":2}\r\n", ["1: {\"a\":1}", "4: {\"b\":2}\r"]),
            ("\u{FEFF}{}\n{}", ["1: {}", "2: {}"]),
            ("nonsense\n{}", ["1: nonsense", "2: {}"]),
            ("[]", []),
            (
                "\n[\n{\"a\":\"]},{\\\"\"},\n{\n\"b\":[{}]} ,{}\n]\n",
                ["3: {\"a\":\"]},{\\\"\"}", "4: {\n\"b\":[{}]}", "5: {}"]
            ),
            ("[{}", ["1: {}", "1! the array does not end"]),
            ("[{\n", ["1! the document does not end"]),
            ("[{} {}]", ["1: {}", "1! expected a document"]),
            ("[{},]", ["1: {}", "1! expected a document"]),
            ("[,{}]", ["1! expected a document"]),
            ("[1]", ["1! expected a document"]),
            ("[{}]\n{}", ["1: {}", "2! something follows the array"]),
        ] as [(String, [String])]
    )
    func cuts(text: String, expected: [String]) {
        for size in [1, 2, 3, 7, 1000] { #expect(pieces(text, by: size) == expected, "by \(size)") }
    }

    @Test("it cuts a large stream in linear time")
    func largeStream() {
        let text = String(repeating: "{\"a\":1}\n", count: 200_000)
        #expect(pieces(text, by: 1 << 16).count == 200_000)
    }
}

@Suite("Import of documents", .postgres)
struct DocumentImportTests {
    private let database = TestDatabase.current.database

    private func run(
        _ text: String,
        into collection: String,
        keepsGoing: Bool = false
    ) async throws -> (summary: DocumentImport.Summary, bad: [Int]) {
        let data = DataService(
            database: database,
            catalog: CollectionCatalog(database: database),
            ids: ObjectIDGenerator(processUnique: 1, counter: 1),
            now: { 1_600_000_000_000 }
        )
        let rest = Mutex<[UInt8]?>(Array(text.utf8))
        let bad = Mutex<[Int]>([])
        let summary = try await DocumentImport(database: database, data: data).run(
            into: Namespace(dataSource: "mongodb-atlas", database: "imported", collection: collection),
            options: .init(
                keepsGoing: keepsGoing,
                report: { document in bad.withLock { $0.append(document.line) } }
            )
        ) { rest.withLock { rest in rest.take() } }
        return (summary, bad.withLock { $0 })
    }

    private func count(_ collection: String) async throws -> Int? {
        try await database.run("SELECT count(*) FROM \(SQLIdentifier(schema: "imported", collection))").int(
            0,
            0
        )
    }

    @Test("it inserts all documents, with their types and an _id")
    func insertsAll() async throws {
        let text = (0..<2500).map { "{\"n\": {\"$numberLong\": \"\($0)\"}}" }.joined(separator: "\n")
        #expect(try await run(text, into: "all").summary == .init(inserted: 2500, refused: 0))
        #expect(try await count("all") == 2500)
        let rows = try await database.run("SELECT count(DISTINCT _id), min(doc->>'n') FROM imported.\"all\"")
        #expect(rows.int(0, 0) == 2500)
        #expect(rows.text(0, 1) == "0.000")
    }

    /// A file with a fault and the fault's line.
    static let faults: [(String, Int)] = [
        ("{\"_id\": 1}\n{\"_id\": 2}\n{\"_id\": \n", 3),
        ("{\"_id\": 1}\n\n{\"_id\": 1}\n{\"_id\": 3}", 3),
        ("{\"_id\": [1]}", 1),
        ("{\"_id\": 1}\n[1]\n", 2),
        ("{\"_id\": 1}\n{\"a\": 1, \"a\": 2}\n", 2),
        ("[{\"_id\": 1},\n{\"_id\": 2}\n", 3),
    ]

    @Test(
        "it imports nothing when a document is bad, and names its line",
        arguments: Array(faults.enumerated())
    )
    func importsNothing(index: Int, fault: (text: String, line: Int)) async throws {
        let error = await #expect(throws: ServiceError.self) {
            try await run(fault.text, into: "nothing\(index)")
        }
        #expect(error?.details["line"] == "\(fault.line)")
        #expect(try await count("nothing\(index)") == 0)
    }

    @Test("it leaves bad documents out when told to keep going")
    func keepsGoing() async throws {
        let text = "{\"_id\": 1}\nnope\n{\"_id\": 1}\n{\"_id\": 2}\n"
        let first = try await run(text, into: "going", keepsGoing: true)
        #expect(first.summary == .init(inserted: 2, refused: 2))
        #expect(first.bad == [2, 3])
        let second = try await run(
            "{\"_id\": 2}\n{\"_id\": 3}\n{\"_id\": 1}\n{\"_id\": 4}",
            into: "going",
            keepsGoing: true
        )
        #expect(second.summary == .init(inserted: 2, refused: 2))
        #expect(second.bad == [1, 3])
        #expect(try await count("going") == 4)
    }
}
