import BSON

/// Reads the members of one configuration object by type, and names those that are of another or unknown.
struct ObjectReader {
    let document: BSONDocument
    let place: Place
    private(set) var findings = Findings()
    private var known: Set<String> = []

    init(_ node: ConfigurationTree.Node) {
        document = node.document
        place = node.place
    }

    init(_ document: BSONDocument, at place: Place) {
        self.document = document
        self.place = place
    }

    /// A member, nil when absent or null.
    mutating func value(_ key: String) -> BSONValue? {
        known.insert(key)
        guard let value = document[key], !value.isNull else { return nil }
        return value
    }

    mutating func flag(_ key: String, default standard: Bool = false) -> Bool {
        guard let value = value(key) else { return standard }
        guard let flag = value.bool else {
            error(key, "must be true or false")
            return standard
        }
        return flag
    }

    /// A text; nil when absent or empty.
    mutating func text(_ key: String) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string else {
            error(key, "must be a string")
            return nil
        }
        return text.isEmpty ? nil : text
    }

    mutating func requiredText(_ key: String) -> String? {
        guard let value = value(key) else {
            error(key, "is missing")
            return nil
        }
        guard let text = value.string, !text.isEmpty else {
            error(key, "must be a string that is not empty")
            return nil
        }
        return text
    }

    mutating func texts(_ key: String) -> [String] {
        guard let value = value(key) else { return [] }
        let texts = value.array?.compactMap(\.string)
        guard let texts, texts.count == value.array?.count else {
            error(key, "must be an array of strings")
            return []
        }
        return texts
    }

    mutating func object(_ key: String) -> BSONDocument? {
        guard let value = value(key) else { return nil }
        guard let document = value.document else {
            error(key, "must be an object")
            return nil
        }
        return document
    }

    mutating func integer(_ key: String) -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = value.exactInt64.flatMap({ Int(exactly: $0) }) else {
            error(key, "must be an integer")
            return nil
        }
        return number
    }

    /// One of a few words.
    mutating func word<Word: RawRepresentable & CaseIterable>(_ key: String, _ type: Word.Type) -> Word?
    where Word.RawValue == String {
        guard let text = text(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = type.allCases.map(\.rawValue).joined(separator: ", ")
            error(key, "must be one of \(words), is '\(text)'")
            return nil
        }
        return word
    }

    mutating func error(_ key: String, _ message: String) {
        findings.add(.error, place.key(key), message)
    }

    mutating func warn(_ key: String, _ message: String) {
        findings.add(.warning, place.key(key), message)
    }

    mutating func note(_ outcome: Finding.Outcome, _ message: String) {
        findings.add(outcome, place, message)
    }

    /// Names the members that nothing asked for; they are kept for export.
    mutating func reportUnknown(ignoring noise: Set<String> = ["id", "_id", "version"]) {
        for key in document.keys where !known.contains(key) && !noise.contains(key) {
            warn(key, "unknown setting; kept, without effect")
        }
    }
}
