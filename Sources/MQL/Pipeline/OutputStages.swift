import BSON
import Errors

/// The collection that a pipeline writes to.
public struct OutputTarget: Sendable, Hashable {
    /// Its database; nil is the one that is read.
    public let database: String?
    /// Its name.
    public let collection: String
}

/// `$merge`: each document is put together with the one of the target that it matches.
public struct MergeArguments: Sendable {
    /// What happens to a document that is there already.
    enum WhenMatched: Sendable {
        /// The new document takes its place.
        case replace
        case keepExisting
        /// The new document's fields go into it.
        case merge
        case fail
        /// Stages that see the old document, and the new one as `$$new`.
        case pipeline(Pipeline)
        /// Stages that no update may have, which is told when a document comes.
        case refused(ServiceError)
    }

    /// What happens to a document that is not there yet.
    enum WhenNotMatched: String, Sendable {
        case insert
        case discard
        case fail
    }

    /// Where the documents go.
    public let target: OutputTarget
    /// The fields by which documents match; ``matchesByID`` tells whether that is `_id`.
    let fields: [FieldPath]
    /// `let`: what the stages of `whenMatched` know of the new document, in order.
    let variables: [NamedExpression]
    let whenMatched: WhenMatched
    let whenNotMatched: WhenNotMatched

    /// Whether documents match by their `_id` alone.
    public var matchesByID: Bool { fields.count == 1 && fields[0].components == ["_id"] }

    /// Whether it may insert documents, so that the target has to be there.
    public var inserts: Bool { whenNotMatched == .insert }
}

extension Pipeline {
    /// The stage that writes what the others give, and those others; nil where the pipeline only reads.
    public var output: (stage: Stage, input: Pipeline)? {
        switch stages.last {
        case .merge?, .out?: stages.last.map { ($0, Pipeline(stages: stages.dropLast())) }
        default: nil
        }
    }
}
