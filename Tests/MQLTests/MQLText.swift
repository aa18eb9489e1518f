import BSON
import Errors
import MQL
import Testing

/// Documents and outcomes as text, so that a table of cases reads like the reference.
enum MQLText {
    static let context = EvaluationContext(now: 1_700_000_000_000)

    static func document(_ text: String) throws -> BSONDocument {
        try ExtendedJSON.readDocument(Array(text.utf8))
    }

    static func value(_ text: String) throws -> BSONValue {
        try ExtendedJSON.readValue(Array(text.utf8))
    }

    static func filter(_ text: String) throws -> Filter {
        try FilterParser.parse(document(text))
    }

    static func matches(_ document: String, _ filter: String) throws -> Bool {
        try Self.filter(filter).matches(Self.document(document), context)
    }

    /// The document after an update, as canonical text.
    static func updated(
        _ document: String,
        _ update: String,
        filter: String = "{}",
        arrayFilters: [String] = []
    ) throws -> String {
        let filters = try arrayFilters.map(Self.document)
        let update = try UpdateParser.parse(value(update), arrayFilters: filters, multi: false)
        let result = try update.apply(
            to: Self.document(document),
            filter: Self.filter(filter),
            isUpsertInsert: false,
            context
        )
        return ExtendedJSON.canonical(.document(result))
    }

    /// The number of the error that a body of work ends with; nil when it ends without.
    static func code(_ work: () throws -> Void) -> Int? {
        do {
            try work()
            return nil
        } catch {
            return (error as? ServiceError)?.serverCode?.number ?? -1
        }
    }

    static func canonical(_ text: String) throws -> String {
        ExtendedJSON.canonical(try value(text))
    }
}
