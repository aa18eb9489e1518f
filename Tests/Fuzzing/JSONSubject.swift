import BSON
import Errors

/// Extended JSON: what was read is written and read again without a change, in every form that keeps types.
struct JSONSubject: FuzzSubject {
    let name = "json"

    func run(_ input: [UInt8]) throws -> Bool {
        guard let document = try attempt({ () throws(ServiceError) in try ExtendedJSON.readDocument(input) })
        else { return false }
        var canonical: [UInt8] = []
        ExtendedJSON.writeCanonical(document, to: &canonical)
        try same(document, try? ExtendedJSON.readDocument(canonical), "canonical Extended JSON")
        var relaxed: [UInt8] = []
        ExtendedJSON.writeRelaxed(document, to: &relaxed)
        guard (try? ExtendedJSON.readDocument(relaxed)) != nil else {
            throw Finding("relaxed Extended JSON cannot be read back")
        }
        var plain: [UInt8] = []
        PlainJSON.write(document, to: &plain)
        _ = MongoShellText.describe(document)
        if let binary = try attempt({ () throws(ServiceError) in try BSONBinaryFormat.write(document) }) {
            try same(document, try? BSONBinaryFormat.read(binary), "BSON")
        }
        if let stored = try attempt({ () throws(ServiceError) in try StoredForm.text(document) }) {
            let shape = DocumentShape(of: document)
            try same(document, try? StoredForm.read(Array(stored.utf8), shape: shape), "the stored form")
        }
        if let id = document["_id"] {
            _ = try attempt { () throws(ServiceError) in try TypedKey.text(id) }
        }
        return true
    }

    private func same(_ document: BSONDocument, _ again: BSONDocument?, _ form: String) throws {
        guard let again else { throw Finding("\(form) cannot be read back") }
        // As text: NaN is not equal to itself, but its notation is.
        let first = ExtendedJSON.canonical(document)
        let second = ExtendedJSON.canonical(again)
        if first != second { throw Finding("\(form) changes \(first) to \(second)") }
    }
}

/// BSON, as functions and imports bring it.
struct BSONSubject: FuzzSubject {
    let name = "bson"
    let isBinary = true

    func run(_ input: [UInt8]) throws -> Bool {
        guard let document = try attempt({ () throws(ServiceError) in try BSONBinaryFormat.read(input) })
        else { return false }
        guard let written = try attempt({ () throws(ServiceError) in try BSONBinaryFormat.write(document) })
        else { return false }
        guard let again = try? BSONBinaryFormat.read(written) else {
            throw Finding("BSON cannot be read back")
        }
        let first = ExtendedJSON.canonical(document)
        if first != ExtendedJSON.canonical(again) { throw Finding("BSON changes \(first)") }
        if BSONBinaryFormat.size(of: document) != written.count { throw Finding("the size is not the size") }
        return true
    }
}
