import BSON
import Errors
public import MQL

/// What sets a trigger off, as its settings say.
public enum TriggerSource: Sendable {
    case database(DatabaseTriggerSource)
    /// The database decides which logins, creations and deletions count.
    case authentication
    /// - skipsMissed: Whether a time that nobody was there for is made up for, once.
    case schedule(CronSchedule, timeZone: String, skipsMissed: Bool)
}

/// The changes of a collection that a trigger is for, and what of them it gets.
///
/// Source: `reference/app-config.md` §9.
public struct DatabaseTriggerSource: Sendable {
    /// Where.
    public let database: String
    /// Where.
    public let collection: String
    /// `insert`, `update`, `replace`, `delete`, as events spell them.
    public let operations: Set<String>
    /// Looks at the whole event.
    public let match: Filter
    /// What becomes of the event; nil leaves it whole.
    public let projection: Projection?
    /// Whether an update carries the document as that update left it.
    public let hasFullDocument: Bool
    /// Whether the event carries the document as it was before.
    public let hasFullDocumentBeforeChange: Bool
    /// Whether events may be handled at the same time.
    public let isUnordered: Bool
    /// Whether events from the time when it was disabled are left out.
    public let skipsCatchup: Bool
    /// Whether it goes on when events have been lost, instead of being suspended.
    public let toleratesResumeErrors: Bool
}

extension TriggerSource {
    /// Reads the `config` of a trigger; nil for a kind that is not served, and for one with faults.
    init?(_ kind: TriggerDefinition.Kind, _ reader: inout ObjectReader) {
        switch kind {
        case .database:
            guard let source = DatabaseTriggerSource(&reader) else { return nil }
            self = .database(source)
        case .authentication: self = .authentication
        case .scheduled:
            guard let text = reader.requiredText("schedule") else { return nil }
            let zone = reader.text("time_zone") ?? "UTC"
            guard CronSchedule.isTimeZone(zone) else {
                reader.error("time_zone", "must be the name of a time zone, is '\(zone)'")
                return nil
            }
            do throws(CronSchedule.Fault) {
                self = .schedule(
                    try CronSchedule(text),
                    timeZone: zone,
                    skipsMissed: reader.flag("skip_catchup_events")
                )
            } catch {
                reader.error("schedule", error.message)
                return nil
            }
        }
    }
}

extension DatabaseTriggerSource {
    private static let words = ["INSERT", "UPDATE", "REPLACE", "DELETE"]

    init?(_ reader: inout ObjectReader) {
        let database = reader.text("database")
        let collection = reader.text("collection")
        guard let database, let collection else {
            reader.warn(
                database == nil ? "database" : "collection",
                "triggers on all collections of a database are not served; kept, without effect"
            )
            return nil
        }
        var operations: Set<String> = []
        for word in reader.texts("operation_types") {
            if Self.words.contains(word) {
                operations.insert(word.lowercased())
            } else {
                reader.warn("operation_types", "'\(word)' is no change of a document; it never happens here")
            }
        }
        do throws(ServiceError) {
            match = try FilterParser.parse(reader.object("match") ?? BSONDocument())
        } catch {
            reader.error("match", error.message)
            return nil
        }
        do throws(ServiceError) {
            let project = reader.object("project") ?? BSONDocument()
            projection = project.isEmpty ? nil : try ProjectionParser.parse(project, inPipeline: true)
        } catch {
            reader.error("project", error.message)
            return nil
        }
        self.database = database
        self.collection = collection
        self.operations = operations
        hasFullDocument = reader.flag("full_document")
        hasFullDocumentBeforeChange = reader.flag("full_document_before_change")
        isUnordered = reader.flag("unordered")
        skipsCatchup = reader.flag("skip_catchup_events")
        toleratesResumeErrors = reader.flag("tolerate_resume_errors")
    }
}
