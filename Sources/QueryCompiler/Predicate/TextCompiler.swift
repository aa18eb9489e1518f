public import BSON
import Errors
import MQL
import SQL

/// A collection's text index.
public struct TextIndex: Sendable, Hashable {
    /// What the index holds, as the functions of SQL take it.
    public let description: BSONDocument

    init(_ description: BSONDocument) {
        self.description = description
    }

    /// The fields whose texts it holds, and the one in which a document names its language; nil stands for all.
    public var paths: [FieldPath]? {
        var paths: [FieldPath] = []
        for field in description["fields"]?.array ?? [] {
            guard let path = field.document?["path"]?.string, path != "$**" else { return nil }
            paths.append(FieldPath(path))
        }
        return paths + (description["language_override"]?.string.map { [FieldPath($0)] } ?? [])
    }
}

/// Turns `$text` into SQL: candidates by the words of the index, the rest by the texts themselves.
///
/// Shape: `tidegate.text_vector(doc, $1) @@ tidegate.text_query(tidegate.text_words($2, $1))`.
struct TextCompiler {
    let index: TextIndex
    let search: TextSearch

    var condition: SQLFragment {
        let found: SQLFragment =
            "tidegate.text_vector(doc, \(spec)) @@ tidegate.text_query(\(words))"
        return search.isPlain ? found : "\(found) AND tidegate.text_accepts(doc, \(spec), \(parts))"
    }

    /// How well a document answers.
    var score: SQLFragment { "tidegate.text_score(doc, \(spec), \(words))" }

    private var spec: SQLFragment { Self.json(index.description) }
    private var parts: SQLFragment { Self.json(search.parts) }
    private var words: SQLFragment { "tidegate.text_words(\(parts), \(spec))" }

    private static func json(_ document: BSONDocument) -> SQLFragment {
        "\(bind: .jsonb(StoredText.bytes(.document(document)) ?? []))"
    }
}

extension QueryCompiler {
    /// The score of what a filter looks for, where it looks for texts.
    func score(_ search: TextSearch?) -> SQLFragment? {
        guard let search, let index = layout.text else { return nil }
        return TextCompiler(index: index, search: search).score
    }
}
