import BSON
import TestSupport
import Testing

@Suite("Round trips")
struct RoundTripTests {
    /// Shares the 100,000 values out, so that they run in parallel.
    static let seeds = Array(UInt64(1)...10)
    static let valuesPerSeed = 10_000

    @Test("read back what they wrote as binary", arguments: seeds)
    func binary(seed: UInt64) throws {
        var values = GeneratedValues(seed: seed)
        while values.count < Self.valuesPerSeed {
            let document: BSONDocument = ["v": values.value()]
            let bytes = try BSONBinaryFormat.write(document)
            #expect(bytes.count == BSONBinaryFormat.size(of: document))
            let read = try BSONBinaryFormat.read(bytes)
            guard read == document else {
                Issue.record("\(ExtendedJSON.canonical(document)) became \(ExtendedJSON.canonical(read))")
                return
            }
        }
    }

    @Test("read back what they wrote as canonical Extended JSON", arguments: seeds)
    func canonical(seed: UInt64) throws {
        var values = GeneratedValues(seed: seed, options: .init(allowsLookalikes: false))
        while values.count < Self.valuesPerSeed {
            let value = values.value()
            let text = ExtendedJSON.canonical(value)
            let read = try ExtendedJSON.readValue(Array(text.utf8))
            guard read == value else {
                Issue.record("\(text) became \(ExtendedJSON.canonical(read))")
                return
            }
        }
    }

    @Test("read back from relaxed Extended JSON what compares equal", arguments: seeds)
    func relaxed(seed: UInt64) throws {
        var values = GeneratedValues(seed: seed, options: .init(allowsLookalikes: false))
        while values.count < Self.valuesPerSeed / 10 {
            let value = values.value()
            let read = try ExtendedJSON.readValue(Array(ExtendedJSON.relaxed(value).utf8))
            #expect(BSONOrdering.equal(read, value), "\(ExtendedJSON.canonical(value))")
        }
    }

    @Test("read back what jsonb kept, in the order of the shape", arguments: seeds)
    func stored(seed: UInt64) throws {
        var values = GeneratedValues(seed: seed, options: .init(allowsNUL: false))
        while values.count < Self.valuesPerSeed {
            let document = values.document()
            let shape = DocumentShape(of: document)
            let stored = JSONBText.normalised(Array(try StoredForm.text(document).utf8))
            let read = try StoredForm.read(stored, shape: shape)
            guard read == document else {
                Issue.record(
                    "\(ExtendedJSON.canonical(document)) became \(ExtendedJSON.canonical(read)) by \(shape.text)"
                )
                return
            }
            #expect(shape.covers(document))
            #expect(try DocumentShape(text: shape.text) == shape)
            for form in [StoredForm.OutputForm.plain, .canonical] {
                for shape in [shape, nil] {
                    var direct: [UInt8] = []
                    try StoredForm.transcode(stored[...], shape: shape, to: form, into: &direct)
                    let read = try StoredForm.read(stored, shape: shape)
                    var byWay: [UInt8] = []
                    if form == .plain {
                        PlainJSON.write(read, to: &byWay)
                    } else {
                        ExtendedJSON.writeCanonical(read, to: &byWay)
                    }
                    guard direct == byWay else {
                        Issue.record(
                            "transcoded \(String(decoding: direct, as: UTF8.self)), read and written \(String(decoding: byWay, as: UTF8.self))"
                        )
                        return
                    }
                }
            }
        }
    }

    @Test("read any stored value alone", arguments: seeds)
    func storedValue(seed: UInt64) throws {
        var values = GeneratedValues(seed: seed, options: .init(allowsNUL: false))
        while values.count < Self.valuesPerSeed / 10 {
            let value = values.value()
            let document: BSONDocument = ["v": value]
            let text = JSONBText.normalised(Array(try StoredForm.text(value).utf8))
            let read = try StoredForm.readValue(text, shape: DocumentShape(of: document).child("v"))
            #expect(read == value, "\(ExtendedJSON.canonical(value))")
        }
    }
}
