/// A write that can be kept on disk and sent later, any number of times, to be done once.
public struct RecordedOperation: Sendable, Hashable {
    let call: ServiceCall

    /// A collection, by its data source, its database and its name.
    public struct Target: Sendable, Hashable {
        /// The data source, such as `mongodb-atlas`.
        public var service: String
        /// The database.
        public var database: String
        /// The collection.
        public var collection: String

        /// Made of its parts.
        public init(_ database: String, _ collection: String, service: String = "mongodb-atlas") {
            self.service = service
            self.database = database
            self.collection = collection
        }
    }

    private static func make(
        _ kind: ServiceCall.Kind,
        _ target: Target,
        _ arguments: Document
    ) -> RecordedOperation {
        RecordedOperation(
            call: ServiceCall(
                kind: kind,
                service: target.service,
                database: target.database,
                collection: target.collection,
                arguments: arguments
            )
        )
    }

    /// Inserts a document; without an `_id` it gets one now, so that it is known before the server has seen it.
    public static func insertOne(_ value: some Encodable, into target: Target) throws -> RecordedOperation {
        make(.insertOne, target, ["document": .document(identified(try BSONEncoder().encode(value)))])
    }

    /// Inserts documents, all or none.
    public static func insertMany(_ values: [some Encodable], into target: Target) throws -> RecordedOperation
    {
        let documents = try values.map { AnyBSON.document(identified(try BSONEncoder().encode($0))) }
        guard !documents.isEmpty else { throw TidegateError(.invalidArgument, "no document to insert") }
        return make(.insertMany, target, ["documents": .array(documents)])
    }

    /// Updates the first document that matches.
    public static func updateOne(filter: Document, update: Document, upsert: Bool = false, in target: Target)
        -> RecordedOperation
    {
        make(
            .updateOne,
            target,
            ["filter": .document(filter), "update": .document(update), "upsert": .bool(upsert)]
        )
    }

    /// Updates all documents that match.
    public static func updateMany(filter: Document, update: Document, upsert: Bool = false, in target: Target)
        -> RecordedOperation
    {
        make(
            .updateMany,
            target,
            ["filter": .document(filter), "update": .document(update), "upsert": .bool(upsert)]
        )
    }

    /// Replaces the first document that matches.
    public static func replaceOne(
        filter: Document,
        replacement: some Encodable,
        upsert: Bool = false,
        in target: Target
    ) throws -> RecordedOperation {
        let document = try Self.replacement(replacement)
        return make(
            .replaceOne,
            target,
            ["filter": .document(filter), "replacement": .document(document), "upsert": .bool(upsert)]
        )
    }

    /// Deletes the first document that matches.
    public static func deleteOne(filter: Document, in target: Target) -> RecordedOperation {
        make(.deleteOne, target, ["filter": .document(filter)])
    }

    /// Deletes all documents that match.
    public static func deleteMany(filter: Document, in target: Target) -> RecordedOperation {
        make(.deleteMany, target, ["filter": .document(filter)])
    }

    /// Calls a function; only a user can send it.
    public static func function(_ name: String, _ arguments: [AnyBSON]) -> RecordedOperation {
        RecordedOperation(
            call: ServiceCall(
                kind: .function,
                arguments: ["name": .string(name), "arguments": .array(arguments)]
            )
        )
    }

    /// The `_id` of the document that it inserts, for one that inserts one.
    public var insertedId: AnyBSON? { call.arguments["document"]?.documentValue?["_id"] }

    private static func identified(_ document: Document) -> Document {
        guard document["_id"] == nil else { return document }
        return Document([("_id", .objectId(ObjectId()))] + document.fields.map { ($0.name, $0.value) })
    }

    /// A document that replaces another one, so that it must not hold operators.
    static func replacement(_ value: some Encodable) throws -> Document {
        let document = try BSONEncoder().encode(value)
        guard !document.hasOperators else {
            throw TidegateError(.invalidArgument, "a replacement must not contain operators")
        }
        return document
    }
}

extension RecordedOperation: CustomStringConvertible {
    /// What it does, as Extended JSON.
    public var description: String { call.document.extendedJSON }
}
