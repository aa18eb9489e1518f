/// The order of keys of a document and of everything inside it, which jsonb does not keep.
///
/// Rendering puts the keys that the shape knows in its order and lets the others follow as they come, which
/// is jsonb's own order. A shape may know more keys than a document has, so that many documents share one.
/// Values without documents inside have no entry. Elements of an array share one shape where their orders
/// can be merged; else each index has its own. Documents that are stored inside `{"$document": …}`, and scopes
/// of code, have their shape under that key, as they lie in the row.
///
/// Shape of the text: `["_id","name",["address",["street","city"]],["lines",{"each":["item","count"]}]]`.
///
/// Source: `design.md` §2; `storage-study.md` §2.2.
public final class DocumentShape: Sendable {
    /// The keys of the document, in order.
    public let keys: [String]
    /// Beside each key the shape of its value, if there are documents in it.
    let children: [DocumentShape?]
    /// The shape of all elements, when the value is an array whose elements agree.
    let each: DocumentShape?
    /// The shapes by index, when they do not.
    let list: [DocumentShape?]
    /// Finds a key by its bytes.
    let table: ShapeTable

    init(
        keys: [String] = [],
        children: [DocumentShape?] = [],
        each: DocumentShape? = nil,
        list: [DocumentShape?] = []
    ) {
        self.keys = keys
        self.children = children
        self.each = each
        self.list = list
        table = ShapeTable(keys)
    }

    /// The exact order of a document.
    public convenience init(of document: BSONDocument) {
        let children = document.fields.map { Self.shape(of: $0.value) }
        if StoredWrapper.isAmbiguous(document) {
            let content = DocumentShape(keys: document.keys, children: children)
            self.init(keys: [StoredWrapper.escapeKey], children: [content])
        } else {
            self.init(keys: document.keys, children: children)
        }
    }

    /// The shape of a value; nil when there is no order to keep.
    static func shape(of value: BSONValue) -> DocumentShape? {
        switch value {
        case .document(let document): document.isEmpty ? nil : DocumentShape(of: document)
        case .array(let elements): shape(of: elements)
        case .codeWithScope(let code):
            code.scope.isEmpty
                ? nil
                : DocumentShape(keys: ["$code", "$scope"], children: [nil, DocumentShape(of: code.scope)])
        default: nil
        }
    }

    private static func shape(of elements: [BSONValue]) -> DocumentShape? {
        let shapes = elements.map(shape(of:))
        guard shapes.contains(where: { $0 != nil }) else { return nil }
        var merger = ShapeMerger()
        for case let shape? in shapes {
            guard merger.add(shape) else { return DocumentShape(list: shapes) }
        }
        return DocumentShape(each: merger.result)
    }

    /// The shape of the value of a key, if known.
    public func child(_ key: String) -> DocumentShape? {
        index(of: key).flatMap { children[$0] }
    }

    /// The shape of an element.
    func element(_ index: Int) -> DocumentShape? {
        list.isEmpty ? each : (index < list.count ? list[index] : nil)
    }

    func index(of key: String) -> Int? {
        keys.firstIndex { TextOrder.equal($0, key) }
    }

    /// Whether rendering this document by the shape gives the document's own order, every key being known.
    public func covers(_ document: BSONDocument) -> Bool {
        if StoredWrapper.isAmbiguous(document) {
            return child(StoredWrapper.escapeKey)?.coversFields(of: document) ?? false
        }
        return coversFields(of: document)
    }

    private func coversFields(of document: BSONDocument) -> Bool {
        var place = 0
        for field in document.fields {
            while place < keys.count, !TextOrder.equal(keys[place], field.key) { place += 1 }
            guard place < keys.count, Self.covers(children[place], field.value) else { return false }
            place += 1
        }
        return true
    }

    private static func covers(_ shape: DocumentShape?, _ value: BSONValue) -> Bool {
        switch value {
        case .document(let document): document.isEmpty || (shape?.covers(document) ?? false)
        case .array(let elements):
            elements.indices.allSatisfy { covers(shape?.element($0), elements[$0]) }
        case .codeWithScope(let code):
            code.scope.isEmpty || (shape?.child("$scope")?.covers(code.scope) ?? false)
        default: true
        }
    }
}

extension DocumentShape: Hashable {
    /// Whether both give every document the same order.
    public static func == (left: DocumentShape, right: DocumentShape) -> Bool {
        if left === right { return true }
        guard left.keys.count == right.keys.count, left.list.count == right.list.count else { return false }
        return zip(left.keys, right.keys).allSatisfy { TextOrder.equal($0, $1) }
            && left.children == right.children && left.each == right.each && left.list == right.list
    }

    /// Feeds the keys; shapes that differ only inside are rare.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(keys)
        hasher.combine(each?.keys)
        hasher.combine(list.count)
    }
}
