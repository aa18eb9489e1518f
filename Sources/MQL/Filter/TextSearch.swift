public import BSON

/// `{$text: {$search: …}}`: words, phrases and what must not be there, taken apart.
///
/// Which words are the same, and which count at all, only the database knows, by the language of its index. So SQL alone
/// decides whether a document matches: every statement with such a filter asks for it, and for the documents that come
/// the evaluator takes it as satisfied. The parser sees to it that it stands where that is true: once, as a condition
/// of the whole query that has to hold.
public struct TextSearch: Sendable, Hashable {
    /// The texts whose words are looked for; a document has to have one of them.
    public var words = ""
    /// The texts whose words no document may have.
    public var negatedWords = ""
    /// What has to stand in the text as it is, each of them.
    public var phrases: [String] = []
    /// What must not stand there.
    public var negatedPhrases: [String] = []
    /// The language of the words; empty is that of the index.
    public var language = ""
    /// Whether `A` is another letter than `a`.
    public var isCaseSensitive = false
    /// Whether `é` is another letter than `e`.
    public var isDiacriticSensitive = false

    /// Whether one of the words is all that it asks for.
    public var isPlain: Bool {
        negatedWords.isEmpty && phrases.isEmpty && negatedPhrases.isEmpty && !isCaseSensitive
            && !isDiacriticSensitive
    }

    /// Its parts by name, as the functions of SQL read them.
    public var parts: BSONDocument {
        [
            "words": .string(words), "negatedWords": .string(negatedWords),
            "phrases": .array(phrases.map { .string($0) }),
            "negatedPhrases": .array(negatedPhrases.map { .string($0) }),
            "language": .string(language), "caseSensitive": .bool(isCaseSensitive),
            "diacriticSensitive": .bool(isDiacriticSensitive),
        ]
    }

    /// Takes a search string apart.
    ///
    /// Shape: `coffee "with milk" -sugar`. A minus negates what follows it up to the next white space, or the phrase that
    /// follows, when white space stands before it; what a phrase says are words, too.
    init(_ search: String) {
        var phrase: String?
        var isNegated = false
        var isAfterSpace = true
        for scalar in search.unicodeScalars {
            let isSpace = scalar.properties.isWhitespace || scalar.value == 0
            // PostgreSQL stores no NUL, which separates words like a blank.
            let kept = scalar.value == 0 ? " " : scalar
            if scalar == "\"" {
                if let ended = phrase {
                    if !ended.isEmpty, isNegated { negatedPhrases.append(ended) }
                    if !ended.isEmpty, !isNegated { phrases.append(ended) }
                    isNegated = false
                }
                phrase = phrase == nil ? "" : nil
                words.append(" ")
            } else if phrase != nil {
                phrase?.unicodeScalars.append(kept)
                if !isNegated { words.unicodeScalars.append(kept) }
            } else if scalar == "-", isAfterSpace {
                isNegated = true
            } else {
                if isSpace { isNegated = false }
                if isNegated {
                    negatedWords.unicodeScalars.append(kept)
                } else {
                    words.unicodeScalars.append(kept)
                    if isSpace, !negatedWords.isEmpty { negatedWords.append(" ") }
                }
            }
            isAfterSpace = isSpace
        }
    }
}

extension Filter {
    /// The text that has to be found for the filter to hold.
    public var textSearch: TextSearch? {
        switch self {
        case .text(let search): search
        case .and(let members): members.lazy.compactMap(\.textSearch).first
        case .or(let members): members.count == 1 ? members[0].textSearch : nil
        case .all, .nothing, .nor, .field, .expression, .schema: nil
        }
    }
}

/// `{$meta: "textScore"}`: how well a document answers a `$text`.
public enum TextScore {
    /// The field in which the score travels with a document, under a name that no document can have.
    static let field = "\u{0}textScore"
    /// Where expressions and sorts find it.
    public static let path = FieldPath(components: [field])

    /// Whether a part of a request asks for it.
    static func isAsked(in value: BSONValue?) -> Bool {
        switch value {
        case .document(let document)?:
            document["$meta"] == .string("textScore") || document.contains { isAsked(in: $0.value) }
        case .array(let elements)?: elements.contains { isAsked(in: $0) }
        default: false
        }
    }

    /// Gives a document its score.
    public static func set(_ score: Double, in document: inout BSONDocument) {
        document.append(field, .double(score))
    }

    /// Gives what is seen of a document the document's score.
    public static func carry(from document: BSONDocument, to seen: inout BSONDocument) {
        guard seen[field] == nil, let score = document[field] else { return }
        seen.append(field, score)
    }

    /// Takes the score away, before anybody sees it.
    public static func remove(from document: inout BSONDocument) {
        document.fields.removeAll { $0.key == field }
    }
}

extension Pipeline {
    /// The same pipeline, through which the score travels with its document, and at whose end it is taken away.
    var withTextScore: Pipeline {
        var result = self
        result.readsTextScore = true
        result.stages = stages.map { stage in
            guard case .project(let projection) = stage, projection.mode == .inclusion else { return stage }
            return .project(
                Projection(
                    mode: .inclusion,
                    includesID: projection.includesID,
                    items: projection.items + [.path(TextScore.path)]
                )
            )
        }
        result.stages.append(.unset([TextScore.path]))
        return result
    }
}
