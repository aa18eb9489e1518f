public import Errors

extension DocumentShape {
    /// The canonical text, which is the shape's identity in the dictionary of a collection.
    public var text: String {
        var out: [UInt8] = []
        append(to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func append(to out: inout [UInt8]) {
        if each == nil && list.isEmpty { return appendKeys(to: &out) }
        out.append(UInt8(ascii: "{"))
        if !keys.isEmpty {
            JSONText.literal("\"keys\":", to: &out)
            appendKeys(to: &out)
            out.append(UInt8(ascii: ","))
        }
        if let each {
            JSONText.literal("\"each\":", to: &out)
            each.append(to: &out)
        } else {
            JSONText.literal("\"list\":[", to: &out)
            for (index, shape) in list.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                if let shape { shape.append(to: &out) } else { JSONText.literal("null", to: &out) }
            }
            out.append(UInt8(ascii: "]"))
        }
        out.append(UInt8(ascii: "}"))
    }

    private func appendKeys(to out: inout [UInt8]) {
        out.append(UInt8(ascii: "["))
        for (index, key) in keys.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            guard let child = children[index] else {
                JSONText.append(key, to: &out)
                continue
            }
            out.append(UInt8(ascii: "["))
            JSONText.append(key, to: &out)
            out.append(UInt8(ascii: ","))
            child.append(to: &out)
            out.append(UInt8(ascii: "]"))
        }
        out.append(UInt8(ascii: "]"))
    }

    /// Reads the canonical text, and the same text as PostgreSQL prints it from jsonb.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter` for anything that is not a shape.
    public convenience init(text: String) throws(ServiceError) {
        // A level of documents takes up to three levels of text.
        let limits = ReadLimits(depth: 400)
        let parsed = try ParsedShape(ExtendedJSON.readValue(Array(text.utf8), limits: limits))
        self.init(keys: parsed.keys, children: parsed.children, each: parsed.each, list: parsed.list)
    }

    private convenience init(_ value: BSONValue) throws(ServiceError) {
        let parsed = try ParsedShape(value)
        self.init(keys: parsed.keys, children: parsed.children, each: parsed.each, list: parsed.list)
    }

    private struct ParsedShape {
        var keys: [String] = []
        var children: [DocumentShape?] = []
        var each: DocumentShape?
        var list: [DocumentShape?] = []

        init(_ value: BSONValue) throws(ServiceError) {
            switch value {
            case .array(let entries): try readKeys(entries)
            case .document(let document):
                for field in document.fields {
                    switch (field.key, field.value) {
                    case ("keys", .array(let entries)): try readKeys(entries)
                    case ("each", let shape): each = try DocumentShape(shape)
                    case ("list", .array(let shapes)):
                        for shape in shapes { list.append(shape.isNull ? nil : try DocumentShape(shape)) }
                    default: throw DocumentShape.malformed
                    }
                }
            default: throw DocumentShape.malformed
            }
        }

        private mutating func readKeys(_ entries: [BSONValue]) throws(ServiceError) {
            var seen: Set<ByteText> = []
            for entry in entries {
                switch entry {
                case .string(let key):
                    keys.append(key)
                    children.append(nil)
                case .array(let pair):
                    guard pair.count == 2, let key = pair[0].string else { throw DocumentShape.malformed }
                    keys.append(key)
                    children.append(try DocumentShape(pair[1]))
                default: throw DocumentShape.malformed
                }
                guard let key = keys.last, seen.insert(ByteText(text: key)).inserted else {
                    throw DocumentShape.malformed
                }
            }
        }
    }

    private static var malformed: ServiceError {
        ServiceError(.invalidParameter, "not the text of a document shape")
    }
}
