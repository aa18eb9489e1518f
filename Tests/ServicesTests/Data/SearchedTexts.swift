import BSON
import TestSupport

/// Texts over few words, and a search that says by itself, word by word, which of them it finds.
///
/// Without a language every word is its own stem.
struct SearchedTexts {
    private static let words = ["alpha", "Alpha", "béta", "beta", "BETA", "gamma", "delta", "x1", "the"]
    private static let joints = [" ", ", ", "-", "  "]

    let documents: [BSONDocument]

    init() {
        var random = SeededRandom(seed: 5)
        documents = (0..<80).map { (index: Int) -> BSONDocument in
            let text = Self.text(&random, upTo: 6)
            let value: BSONValue =
                random.oneIn(4) ? .array([.string(text), .int32(5), .string("delta")]) : .string(text)
            return ["_id": .int32(Int32(index)), "t": value]
        }
    }

    private static func text(_ random: inout SeededRandom, upTo count: Int) -> String {
        var text = ""
        for index in 0..<random.below(count + 1) {
            if index > 0 { text += joints[random.below(joints.count)] }
            text += words[random.below(words.count)]
        }
        return text
    }

    struct Search {
        var words: [String] = []
        var negated: [String] = []
        var phrases: [String] = []
        var byCase = false
        var byDiacritics = false

        var members: BSONDocument {
            let parts = words + negated.map { "-" + $0 } + phrases.map { "\"\($0)\"" }
            return [
                "$search": .string(parts.joined(separator: " ")), "$caseSensitive": .bool(byCase),
                "$diacriticSensitive": .bool(byDiacritics),
            ]
        }

        func finds(_ document: BSONDocument) -> Bool {
            let texts = (document["t"]?.array ?? [document["t"] ?? .null]).compactMap(\.string)
            let terms = Set(texts.flatMap(terms))
            let asked = words + phrases.flatMap(self.terms)
            return asked.contains { terms.contains(folded($0)) }
                && !negated.contains { terms.contains(folded($0)) }
                && phrases.allSatisfy { phrase in texts.contains { folded($0).contains(folded(phrase)) } }
        }

        private func terms(_ text: String) -> [String] {
            folded(text).split { " ,-".contains($0) }.map(String.init)
        }

        private func folded(_ text: String) -> String {
            let text = byCase ? text : text.lowercased()
            return byDiacritics ? text : text.replacing("é", with: "e")
        }
    }

    func search(_ random: inout SeededRandom) -> Search {
        var search = Search(byCase: random.oneIn(3), byDiacritics: random.oneIn(3))
        for _ in 0..<random.below(3) { search.words.append(Self.words[random.below(Self.words.count)]) }
        if random.oneIn(2) { search.negated.append(Self.words[random.below(Self.words.count)]) }
        if random.oneIn(2) {
            let phrase = Self.text(&random, upTo: 2)
            if !phrase.isEmpty { search.phrases.append(phrase) }
        }
        return search
    }
}
