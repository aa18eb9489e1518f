import Foundation
import Testing

@testable import TidegateClient

@Suite("Documents of the client")
struct DocumentTests {
    @Test(
        "canonical Extended JSON goes in and out unchanged",
        arguments: [
            #"{"_id":{"$oid":"65f0c0ffee0000000000aaaa"},"n":{"$numberInt":"1"},"l":{"$numberLong":"-5"}}"#,
            #"{"d":{"$numberDouble":"1.5"},"nan":{"$numberDouble":"NaN"},"inf":{"$numberDouble":"-Infinity"}}"#,
            #"{"when":{"$date":{"$numberLong":"1652297239913"}},"early":{"$date":{"$numberLong":"-62135596800001"}}}"#,
            #"{"b":{"$binary":{"base64":"AQID","subType":"00"}},"u":{"$binary":{"base64":"ASNFZ4mrze8BI0VniavN7w==","subType":"04"}}}"#,
            #"{"dec":{"$numberDecimal":"1.50"},"null":null,"yes":true,"no":false,"list":[[],{}]}"#,
            #"{"re":{"$regularExpression":{"pattern":"^a","options":"i"}},"ts":{"$timestamp":{"t":{"$numberInt":"1"},"i":{"$numberInt":"2"}}},"min":{"$minKey":{"$numberInt":"1"}}}"#,
            #"{"text":"\" \\ \n \r \t \u0001 é 🦊","":"empty name"}"#,
        ]
    )
    func roundTrip(text: String) throws {
        #expect(try Document(extendedJSON: text).extendedJSON == text)
    }

    @Test("reads what people write, too")
    func relaxed() throws {
        let document = try Document(
            extendedJSON:
                ##" {"a": 1, "b": 5000000000, "c": 1.0, "d": {"$date": "2024-01-02T03:04:05.678Z"}, "e": "\ud83e\udd8a\/"} "##
        )
        #expect(document["a"] == .int32(1))
        #expect(document["b"] == .int64(5_000_000_000))
        #expect(document["c"] == .double(1))
        #expect(document["d"] == .datetime(Date(timeIntervalSince1970: 1_704_164_645.678)))
        #expect(document["e"] == "🦊/")
    }

    @Test(
        "refuses what is no Extended JSON, with the place",
        arguments: [
            "", "{", #"{"a"}"#, "[1,]", #"{"a":1}x"#, #""\q""#, #""open"#, "nul", #"{1:2}"#, "--1",
            #""\u12""#,
        ]
    )
    func refuses(text: String) throws {
        let error = #expect(throws: TidegateError.self) { try Document(extendedJSON: text) }
        #expect(error?.kind == .invalidDocument)
    }

    @Test("refuses what is nested too deep")
    func depth() {
        let text = String(repeating: "[", count: 10_000)
        #expect(throws: TidegateError.self) { try ExtendedJSONReader.read(Array(text.utf8)) }
    }

    private struct Item: Codable, Equatable {
        enum Kind: String, Codable { case small, large }
        struct Part: Codable, Equatable { var name: String }
        var id: ObjectId
        var title: String
        var count: Int
        var small: Int32
        var ratio: Double
        var isDone: Bool
        var when: Date
        var data: Data
        var uuid: UUID
        var kind: Kind
        var parts: [Part]
        var more: [String: Int]
        var missing: String?
        var free: Document
        var any: AnyBSON
        var url: URL
    }

    @Test("Codable values become documents and come back")
    func codable() throws {
        let item = Item(
            id: ObjectId(),
            title: "t",
            count: 5,
            small: 6,
            ratio: 0.5,
            isDone: true,
            when: Date(timeIntervalSince1970: 1_700_000_000.123),
            data: Data([1, 2]),
            uuid: UUID(),
            kind: .large,
            parts: [.init(name: "p")],
            more: ["a": 1],
            missing: nil,
            free: ["x": ["y": nil]],
            any: .decimal128(Decimal128("1.5")),
            url: try #require(URL(string: "https://example.com/a"))
        )
        let document = try BSONEncoder().encode(item)
        #expect(document["count"] == .int64(5))
        #expect(document["small"] == .int32(6))
        #expect(document["id"] == .objectId(item.id))
        #expect(document["missing"] == nil)
        #expect(document["kind"] == "large")
        let text = document.extendedJSON
        #expect(try BSONDecoder().decode(Item.self, from: Document(extendedJSON: text)) == item)
        // Through another coder, too.
        let json = try JSONEncoder().encode(["free": item.free])
        #expect(try JSONDecoder().decode([String: Document].self, from: json) == ["free": item.free])
    }

    @Test("says which field does not fit")
    func mismatch() throws {
        struct Small: Codable { var n: Int8 }
        #expect(throws: DecodingError.self) { try BSONDecoder().decode(Small.self, from: ["n": 1000]) }
        #expect(throws: DecodingError.self) { try BSONDecoder().decode(Small.self, from: [:]) }
        #expect(try BSONDecoder().decode(Small.self, from: ["n": 5.0]).n == 5)
        #expect(throws: TidegateError.self) { try BSONEncoder().encode([1, 2]) }
    }

    @Test("ids are of their own time, and none comes twice")
    func ids() throws {
        let ids = (0..<1000).map { _ in ObjectId() }
        #expect(Set(ids).count == 1000)
        #expect(try ObjectId(string: ids[0].stringValue) == ids[0])
        #expect(throws: TidegateError.self) { try ObjectId(string: "65f0c0ffee0000000000aaa") }
        #expect(throws: TidegateError.self) { try ObjectId(string: "65f0c0ffee0000000000aaax") }
    }

    @Test("events are put together from pieces that end anywhere")
    func events() throws {
        let text = ": hello\n\nevent: message\ndata: {\"a\":\"50%25%0A\"}\r\n\r\ndata: {\"b\":true}\n\n"
        for size in [1, 2, 3, 7, 1000] {
            var parser = ServerSentEvents()
            var events: [Document] = []
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) {
                events += try parser.take(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            // The escape stands for a line feed inside of a JSON text, which only its own escape may be.
            #expect(events.map(\.extendedJSON) == [#"{"a":"50%\n"}"#, #"{"b":true}"#])
        }
        var parser = ServerSentEvents()
        let failure = "event: error\ndata: {\"error_code\":\"InvalidSession\",\"error\":\"over\"}\n\n"
        let error = #expect(throws: TidegateError.self) { try parser.take(Array(failure.utf8)) }
        #expect(error?.code == "InvalidSession")
    }
}
