import BSON
import Synchronization

/// The known expansions of one context, as documents that paths lead into.
///
/// A class, since it makes the documents of user and request when they are first asked for, and remembers
/// whether the request was: what was resolved without it holds for the user's next request, too.
final class RuleFacts: Sendable {
    private struct Made {
        var user: BSONDocument??
        var request: BSONDocument??
    }

    private let context: RuleContext
    private let made = Mutex(Made())

    init(_ context: RuleContext) {
        self.context = context
    }

    /// Where functions' answers are; without it they are missing.
    var answers: FunctionAnswers? { context.answers }

    /// Whether an expansion of the request was looked up.
    var usedRequest: Bool { made.withLock { $0.request != nil } }

    /// The document and path at which an expansion's values stand; nil for those of documents.
    ///
    /// Nothing stands there when the expansion is missing.
    func place(of expansion: Expansion) -> (document: BSONDocument, path: [String])? {
        switch expansion {
        case .constant(let value): (["v": .bool(value)], ["v"])
        case .user(let path): (wrapped(user), ["v"] + path)
        case .values(let path): (wrapped(context.values), ["v"] + path)
        case .environmentTag: (["v": .string(context.environmentTag)], ["v"])
        case .environmentValues(let path): (wrapped(context.environmentValues), ["v"] + path)
        case .request(let path): (wrapped(request), ["v"] + path)
        case .partition: (context.partition.map { value -> BSONDocument in ["v": value] } ?? [:], ["v"])
        case .image: nil
        }
    }

    private var user: BSONDocument? {
        made.withLock { made in
            if let known = made.user { return known }
            let document = context.user?.document
            made.user = .some(document)
            return document
        }
    }

    private var request: BSONDocument? {
        made.withLock { made in
            if let known = made.request { return known }
            let document = context.request()?.document
            made.request = .some(document)
            return document
        }
    }

    private func wrapped(_ document: BSONDocument?) -> BSONDocument {
        document.map { ["v": .document($0)] } ?? [:]
    }
}

/// The one value at a path: through documents by name, through arrays by position only.
///
/// A right-hand side is one value, so a path through an array of documents names none.
func value(at path: some Collection<String>, in document: BSONDocument) -> BSONValue? {
    var current = BSONValue.document(document)
    for component in path {
        switch current {
        case .document(let document):
            guard let next = document[component] else { return nil }
            current = next
        case .array(let elements):
            guard let index = Int(component), elements.indices.contains(index) else { return nil }
            current = elements[index]
        default:
            return nil
        }
    }
    return current
}
