/// A collection behind a gateway, under the app's rules for the caller.
///
/// Every method is one request. Its errors are ``TidegateError``s: of the kind `service` with the server's code, or
/// `network`. Of a write that failed with `network` nobody knows whether it was done; with a `key`, it can be sent again and
/// is done once (the gateway remembers keys for 24 hours).
public struct MongoCollection<Value: Codable & Sendable>: Sendable {
    let database: MongoDatabase
    /// The collection's name.
    public let name: String

    var backend: Backend { database.client.backend }

    func call(_ kind: ServiceCall.Kind, _ arguments: [(String, AnyBSON?)]) -> ServiceCall {
        var document = Document()
        for (name, value) in arguments { if let value { document.append(name, value) } }
        return ServiceCall(
            kind: kind,
            service: database.client.serviceName,
            database: database.name,
            collection: name,
            arguments: document
        )
    }

    // MARK: Reading

    /// The documents that match.
    public func find(filter: Document = [:], options: FindOptions = FindOptions()) async throws -> [Value] {
        let call = call(.find, [("filter", .document(filter))] + options.arguments(withLimit: true))
        return try Self.values(try await backend.perform(call))
    }

    /// As ``find(filter:options:)``, as they came.
    func documents(filter: Document, options: FindOptions) async throws -> [Document] {
        let call = call(.find, [("filter", .document(filter))] + options.arguments(withLimit: true))
        return try BSONDecoder().decodeValue([Document].self, from: try await backend.perform(call))
    }

    /// The first document that matches; nil when none does.
    public func findOne(filter: Document = [:], options: FindOptions = FindOptions()) async throws -> Value? {
        let call = call(.findOne, [("filter", .document(filter))] + options.arguments(withLimit: false))
        return try Self.optional(try await backend.perform(call))
    }

    /// What a pipeline makes of the documents.
    public func aggregate(pipeline: [Document]) async throws -> [Document] {
        let stages = AnyBSON.array(pipeline.map { .document($0) })
        let answer = try await backend.perform(call(.aggregate, [("pipeline", stages)]))
        return try BSONDecoder().decodeValue([Document].self, from: answer)
    }

    /// How many documents match.
    public func count(filter: Document = [:], limit: Int? = nil) async throws -> Int {
        let arguments: [(String, AnyBSON?)] = [
            ("filter", .document(filter)), ("limit", limit.map { .int64(Int64($0)) }),
        ]
        return try Self.number(try await backend.perform(call(.count, arguments)))
    }

    // MARK: Writing

    /// Inserts a document; its `_id` comes back, a new one when it had none.
    @discardableResult
    public func insertOne(_ value: Value, key: String? = nil) async throws -> AnyBSON {
        let document = try BSONEncoder().encode(value)
        return try Self.member(
            "insertedId",
            try await backend.perform(call(.insertOne, [("document", .document(document))]), key: key)
        )
    }

    /// Inserts documents; their `_id`s come back in order.
    @discardableResult
    public func insertMany(_ values: [Value], key: String? = nil) async throws -> [AnyBSON] {
        let documents = AnyBSON.array(try values.map { .document(try BSONEncoder().encode($0)) })
        let answer = try await backend.perform(call(.insertMany, [("documents", documents)]), key: key)
        return try Self.member("insertedIds", answer).arrayValue ?? []
    }

    /// Updates the first document that matches.
    @discardableResult
    public func updateOne(filter: Document, update: Document, upsert: Bool = false, key: String? = nil)
        async throws -> UpdateResult
    {
        try await self.update(.updateOne, filter, update, upsert, key)
    }

    /// Updates all documents that match.
    @discardableResult
    public func updateMany(filter: Document, update: Document, upsert: Bool = false, key: String? = nil)
        async throws -> UpdateResult
    {
        try await self.update(.updateMany, filter, update, upsert, key)
    }

    private func update(
        _ kind: ServiceCall.Kind,
        _ filter: Document,
        _ update: Document,
        _ upsert: Bool,
        _ key: String?
    ) async throws -> UpdateResult {
        let arguments: [(String, AnyBSON?)] = [
            ("filter", .document(filter)), ("update", .document(update)), ("upsert", .bool(upsert)),
        ]
        return try UpdateResult(try await backend.perform(call(kind, arguments), key: key))
    }

    /// Replaces the first document that matches, but for its `_id`.
    @discardableResult
    public func replaceOne(filter: Document, replacement: Value, upsert: Bool = false, key: String? = nil)
        async throws -> UpdateResult
    {
        let document = try RecordedOperation.replacement(replacement)
        let arguments: [(String, AnyBSON?)] = [
            ("filter", .document(filter)), ("replacement", .document(document)), ("upsert", .bool(upsert)),
        ]
        return try UpdateResult(try await backend.perform(call(.replaceOne, arguments), key: key))
    }

    /// Deletes the first document that matches; how many that were.
    @discardableResult
    public func deleteOne(filter: Document, key: String? = nil) async throws -> Int {
        try await delete(.deleteOne, filter, key)
    }

    /// Deletes all documents that match; how many those were.
    @discardableResult
    public func deleteMany(filter: Document, key: String? = nil) async throws -> Int {
        try await delete(.deleteMany, filter, key)
    }

    private func delete(_ kind: ServiceCall.Kind, _ filter: Document, _ key: String?) async throws -> Int {
        let answer = try await backend.perform(call(kind, [("filter", .document(filter))]), key: key)
        return try Self.number(try Self.member("deletedCount", answer))
    }

    // MARK: Finding and changing

    /// Updates a document and gives it as it was, or as it is.
    public func findOneAndUpdate(
        filter: Document,
        update: Document,
        options: FindOneAndModifyOptions = FindOneAndModifyOptions(),
        key: String? = nil
    ) async throws -> Value? {
        let arguments: [(String, AnyBSON?)] = [("filter", .document(filter)), ("update", .document(update))]
        let call = call(.findOneAndUpdate, arguments + options.arguments)
        return try Self.optional(try await backend.perform(call, key: key))
    }

    /// Replaces a document and gives it as it was, or as it is.
    public func findOneAndReplace(
        filter: Document,
        replacement: Value,
        options: FindOneAndModifyOptions = FindOneAndModifyOptions(),
        key: String? = nil
    ) async throws -> Value? {
        let document = try RecordedOperation.replacement(replacement)
        let arguments: [(String, AnyBSON?)] = [
            ("filter", .document(filter)), ("replacement", .document(document)),
        ]
        let call = call(.findOneAndReplace, arguments + options.arguments)
        return try Self.optional(try await backend.perform(call, key: key))
    }

    /// Deletes a document and gives it as it was.
    public func findOneAndDelete(
        filter: Document,
        options: FindOneAndModifyOptions = FindOneAndModifyOptions(),
        key: String? = nil
    ) async throws -> Value? {
        let arguments: [(String, AnyBSON?)] = [
            ("filter", .document(filter)), ("projection", options.projection.map { .document($0) }),
            ("sort", options.sort.map { .document($0) }),
        ]
        return try Self.optional(try await backend.perform(call(.findOneAndDelete, arguments), key: key))
    }

    // MARK: Answers

    private static func values(_ answer: AnyBSON) throws -> [Value] {
        try BSONDecoder().decodeValue([Value].self, from: answer)
    }

    private static func optional(_ answer: AnyBSON) throws -> Value? {
        answer == .null ? nil : try BSONDecoder().decodeValue(Value.self, from: answer)
    }

    private static func member(_ name: String, _ answer: AnyBSON) throws -> AnyBSON {
        guard let value = answer.documentValue?[name] else {
            throw TidegateError(.invalidAnswer, "the answer has no '\(name)'")
        }
        return value
    }

    private static func number(_ answer: AnyBSON) throws -> Int {
        guard let number = answer.asInt else {
            throw TidegateError(.invalidAnswer, "the answer is not a number")
        }
        return number
    }
}

extension FindOptions {
    fileprivate func arguments(withLimit: Bool) -> [(String, AnyBSON?)] {
        [
            ("projection", projection.map { .document($0) }), ("sort", sort.map { .document($0) }),
            ("limit", withLimit ? limit.map { .int64(Int64($0)) } : nil),
        ]
    }
}

extension FindOneAndModifyOptions {
    fileprivate var arguments: [(String, AnyBSON?)] {
        [
            ("projection", projection.map { .document($0) }), ("sort", sort.map { .document($0) }),
            ("upsert", .bool(upsert)), ("returnNewDocument", .bool(shouldReturnNewDocument)),
        ]
    }
}

extension UpdateResult {
    init(_ answer: AnyBSON) throws {
        guard let document = answer.documentValue, let matched = document["matchedCount"]?.asInt,
            let modified = document["modifiedCount"]?.asInt
        else { throw TidegateError(.invalidAnswer, "the answer has no counts") }
        self.init(matchedCount: matched, modifiedCount: modified, upsertedId: document["upsertedId"])
    }
}
