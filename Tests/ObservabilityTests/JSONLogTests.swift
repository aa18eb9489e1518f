import Foundation
import Logging
import Synchronization
import Testing

@testable import Observability

@Suite("JSON log lines")
struct JSONLogTests {
    private final class Lines: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    private let lines = Lines()

    private var logger: Logger {
        let lines = lines
        let provider = Logger.MetadataProvider {
            RequestTrace.current.map { ["request_id": .string($0.requestID)] } ?? [:]
        }
        return Logger(label: "test") { label in
            JSONLogHandler(label: label, metadataProvider: provider) { line in
                lines.bytes.withLock { $0 += line }
            }
        }
    }

    private func objects() throws -> [[String: Any]] {
        let text = String(decoding: lines.bytes.withLock { $0 }, as: UTF8.self)
        #expect(text.hasSuffix("\n"))
        return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(object as? [String: Any])
        }
    }

    @Test("are one object each, whatever the texts hold")
    func escaping() throws {
        let hostile = "a\"b\\c\nd\r\u{0}\u{1B}[31m\u{7F}\t\u{2028}é😀{\"level\":\"fake\"}"
        logger.warning(
            "\(hostile)",
            metadata: [
                "message": .string(hostile), hostile: "x", "ms": .stringConvertible(1.25),
                "count": .stringConvertible(3), "odd": .stringConvertible(Double.infinity),
                "list": ["a", .dictionary(["b": "c\n"])],
            ]
        )
        logger.notice("next")
        let objects = try objects()
        #expect(objects.count == 2)
        let line = objects[0]
        #expect(line["level"] as? String == "warning")
        #expect(line["message"] as? String == hostile)
        #expect(line["metadata_message"] as? String == hostile)
        #expect(line[hostile] as? String == "x")
        #expect(line["ms"] as? Double == 1.25)
        #expect(line["count"] as? Int == 3)
        #expect(line["odd"] as? String == "inf")
        #expect((line["list"] as? [Any])?.count == 2)
        let time = try #require(line["time"] as? String)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        let text = String(decoding: lines.bytes.withLock { $0 }, as: UTF8.self)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\n" })
    }

    @Test("carry the id of the request that a task works for")
    func requestID() throws {
        let observer = Observer(logger: logger)
        let trace = RequestTrace(requestID: "65f0c0ffee0000000000aaaa")
        RequestTrace.$current.withValue(trace) {
            observer.record(.slowStatement(sql: "SELECT $1", duration: .seconds(2)))
        }
        observer.record(.poolExhausted(waiting: 1, connections: 1))
        let objects = try objects()
        #expect(objects[0]["request_id"] as? String == "65f0c0ffee0000000000aaaa")
        #expect(objects[0]["ms"] as? Double == 2000)
        #expect(objects[1]["request_id"] == nil)
    }
}
