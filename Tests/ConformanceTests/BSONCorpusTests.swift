import BSON
import Errors
import TestSupport
import Testing

/// The published BSON corpus: bytes, canonical and relaxed text, degenerate input, errors.
///
/// Source: mongodb/specifications, `source/bson-corpus/tests`.
@Suite("BSON corpus", .enabled(if: Corpus.has("bson-corpus"), Comment(rawValue: Corpus.absence)))
struct BSONCorpusTests {
    static let files = Corpus.files("bson-corpus", extension: "json")

    @Test("is the published set of files")
    func isComplete() {
        #expect(Self.files.count >= 24)
    }

    @Test("reads and writes every valid case", arguments: files)
    func valid(file: String) throws {
        for item in try cases(file, "valid") {
            let name = Comment(rawValue: text(item, "description") ?? "")
            let canonical = try #require(hex(item, "canonical_bson"), name)
            let canonicalText = try #require(text(item, "canonical_extjson"), name)
            let isLossy = item["lossy"]?.bool ?? false
            let document = try BSONBinaryFormat.read(canonical)
            #expect(try BSONBinaryFormat.write(document) == canonical, name)
            #expect(BSONBinaryFormat.size(of: document) == canonical.count, name)
            #expect(ExtendedJSON.canonical(document) == compact(canonicalText), name)
            let parsed = try ExtendedJSON.readDocument(Array(canonicalText.utf8))
            #expect(ExtendedJSON.canonical(parsed) == compact(canonicalText), name)
            if !isLossy { #expect(try BSONBinaryFormat.write(parsed) == canonical, name) }
            if let relaxed = text(item, "relaxed_extjson") {
                #expect(ExtendedJSON.relaxed(document) == compact(relaxed), name)
                let parsed = try ExtendedJSON.readDocument(Array(relaxed.utf8))
                #expect(ExtendedJSON.relaxed(parsed) == compact(relaxed), name)
            }
            try stored(document, isLossy: isLossy, name)
        }
    }

    @Test("brings degenerate input to its canonical form", arguments: files)
    func degenerate(file: String) throws {
        for item in try cases(file, "valid") {
            let name = Comment(rawValue: text(item, "description") ?? "")
            let canonical = try #require(hex(item, "canonical_bson"), name)
            if let bytes = hex(item, "degenerate_bson") {
                #expect(try BSONBinaryFormat.write(BSONBinaryFormat.read(bytes)) == canonical, name)
            }
            if let degenerate = text(item, "degenerate_extjson"),
                let expected = text(item, "canonical_extjson")
            {
                let parsed = try ExtendedJSON.readDocument(Array(degenerate.utf8))
                #expect(ExtendedJSON.canonical(parsed) == compact(expected), name)
                if item["lossy"] == nil { #expect(try BSONBinaryFormat.write(parsed) == canonical, name) }
            }
        }
    }

    @Test("refuses every malformed document", arguments: files)
    func decodeErrors(file: String) throws {
        for item in try cases(file, "decodeErrors") {
            let bytes = try #require(hex(item, "bson"))
            let error = #expect(throws: ServiceError.self, Comment(rawValue: text(item, "description") ?? ""))
            {
                try BSONBinaryFormat.read(bytes)
            }
            #expect(error?.code == .invalidParameter)
            #expect(error?.details["position"] != nil)
        }
    }

    @Test("refuses every malformed text", arguments: files)
    func parseErrors(file: String) throws {
        for item in try cases(file, "parseErrors") {
            var string = try #require(text(item, "string"))
            if file.hasPrefix("decimal128") { string = "{\"d\":{\"$numberDecimal\":\"\(string)\"}}" }
            let error = #expect(throws: ServiceError.self, Comment(rawValue: text(item, "description") ?? ""))
            {
                try ExtendedJSON.readDocument(Array(string.utf8))
            }
            #expect(error?.code == .invalidParameter)
            #expect(error?.details["position"] != nil)
        }
    }

    /// What the corpus says nothing of: the form in which tidegate stores the document.
    private func stored(_ document: BSONDocument, isLossy: Bool, _ name: Comment) throws {
        guard !ExtendedJSON.canonical(document).contains("\\u0000") else { return }
        let read = try StoredForm.read(
            Array(StoredForm.text(document).utf8),
            shape: DocumentShape(of: document)
        )
        if isLossy {
            #expect(ExtendedJSON.canonical(read) == ExtendedJSON.canonical(document), name)
        } else {
            #expect(read == document, name)
        }
    }

    private func cases(_ file: String, _ kind: String) throws -> [BSONDocument] {
        let corpus = try ExtendedJSON.readDocument(Corpus.bytes("bson-corpus", file))
        return corpus[kind]?.array?.compactMap(\.document) ?? []
    }

    private func text(_ item: BSONDocument, _ key: String) -> String? { item[key]?.string }

    private func hex(_ item: BSONDocument, _ key: String) -> [UInt8]? {
        guard let digits = text(item, key) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).compactMap { index in
            UInt8(digits.dropFirst(index).prefix(2), radix: 16)
        }
    }

    /// The corpus' own text without spaces, and with needless `\u` escapes resolved.
    private func compact(_ text: String) -> String {
        var out = ""
        var isInString = false
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", let escape = rest.popFirst() {
                let code = UInt32(rest.prefix(4), radix: 16).flatMap(UnicodeScalar.init)
                if escape == "u", let code, code.value >= 0x20 {
                    out.unicodeScalars.append(code)
                    rest = rest.dropFirst(4)
                } else {
                    out += "\\\(escape)"
                }
            } else {
                if character == "\"" { isInString.toggle() }
                if isInString || character != " " { out.append(character) }
            }
        }
        return out
    }
}
