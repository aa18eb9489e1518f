/// What is asked of a collection or of a function, before it is known which door it goes through.
struct ServiceCall: Sendable, Hashable {
    enum Kind: String, Sendable {
        case find
        case findOne
        case aggregate
        case count
        case findOneAndUpdate
        case findOneAndReplace
        case findOneAndDelete
        case insertOne
        case insertMany
        case updateOne
        case updateMany
        case replaceOne
        case deleteOne
        case deleteMany
        /// `name` and `arguments` are its arguments.
        case function
    }

    let kind: Kind
    var service = ""
    var database = ""
    var collection = ""
    /// By the names of the Data API.
    var arguments: Document

    // MARK: As it is kept

    var document: Document {
        [
            "kind": .string(kind.rawValue), "service": .string(service), "database": .string(database),
            "collection": .string(collection), "arguments": .document(arguments),
        ]
    }

    init(
        kind: Kind,
        service: String = "",
        database: String = "",
        collection: String = "",
        arguments: Document
    ) {
        self.kind = kind
        self.service = service
        self.database = database
        self.collection = collection
        self.arguments = arguments
    }

    init(kept document: Document) throws {
        guard let kind = document["kind"]?.stringValue.flatMap({ Kind(rawValue: $0) }),
            let service = document["service"]?.stringValue, let database = document["database"]?.stringValue,
            let collection = document["collection"]?.stringValue,
            let arguments = document["arguments"]?.documentValue
        else { throw TidegateError(.storage, "a recorded operation cannot be read") }
        self.init(
            kind: kind,
            service: service,
            database: database,
            collection: collection,
            arguments: arguments
        )
    }

    // MARK: As it is sent

    /// The body of a `functions/call`: the same bytes each time, since a key stands for them.
    var clientBody: [UInt8] {
        if kind == .function { return AnyBSON.document(arguments).bytes }
        var argument: Document = ["database": .string(database), "collection": .string(collection)]
        for field in arguments.fields { argument[clientName(field.name)] = field.value }
        return AnyBSON.document([
            "name": .string(kind == .replaceOne ? "updateOne" : kind.rawValue),
            "arguments": [.document(argument)], "service": .string(service),
        ]).bytes
    }

    /// The MongoDB service's names for what the Data API calls `filter`, `projection`, `replacement`.
    private func clientName(_ name: String) -> String {
        switch (kind, name) {
        case (.findOneAndUpdate, _), (.findOneAndDelete, _): name
        case (.findOneAndReplace, "replacement"), (.replaceOne, "replacement"): "update"
        case (.findOneAndReplace, _): name
        case (_, "filter"): "query"
        case (_, "projection"): "project"
        default: name
        }
    }

    /// The action of the Data API.
    var action: String { kind == .count ? "countDocuments" : kind.rawValue }

    /// The body of an action of the Data API.
    var dataBody: [UInt8] {
        var body: Document = [
            "dataSource": .string(service), "database": .string(database), "collection": .string(collection),
        ]
        for field in arguments.fields { body[field.name] = field.value }
        return AnyBSON.document(body).bytes
    }
}
