// What the Realm Swift SDK calls otherwise, so that code moves as it stands.

extension MongoCollection {
    /// ``findOne(filter:options:)`` by its name in Realm Swift.
    public func findOneDocument(filter: Document, options: FindOptions = FindOptions()) async throws -> Value?
    {
        try await findOne(filter: filter, options: options)
    }

    /// ``updateOne(filter:update:upsert:key:)`` by its name in Realm Swift.
    @discardableResult
    public func updateOneDocument(filter: Document, update: Document, upsert: Bool = false) async throws
        -> UpdateResult
    {
        try await updateOne(filter: filter, update: update, upsert: upsert)
    }

    /// ``updateMany(filter:update:upsert:key:)`` by its name in Realm Swift.
    @discardableResult
    public func updateManyDocuments(filter: Document, update: Document, upsert: Bool = false) async throws
        -> UpdateResult
    {
        try await updateMany(filter: filter, update: update, upsert: upsert)
    }

    /// ``deleteOne(filter:key:)`` by its name in Realm Swift.
    @discardableResult
    public func deleteOneDocument(filter: Document) async throws -> Int {
        try await deleteOne(filter: filter)
    }

    /// ``deleteMany(filter:key:)`` by its name in Realm Swift.
    @discardableResult
    public func deleteManyDocuments(filter: Document) async throws -> Int {
        try await deleteMany(filter: filter)
    }
}
