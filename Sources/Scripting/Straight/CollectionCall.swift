internal import BSON

/// A method of a collection's handle, as `mongodb.js` asks the gateway for it.
struct CollectionCall {
    private let service: String
    private let method: String
    private let place: BSONDocument

    init(_ service: String, _ database: String, _ collection: String, _ method: String) {
        self.service = service
        self.method = method
        place = ["database": .string(database), "collection": .string(collection)]
    }

    /// What options are called, and all that a method may be given: it passes over those that it has no use for.
    private static let common = ["maxTimeMS", "collation", "hint"]
    private static let writing = common + ["bypassDocumentValidation"]
    private static let updating = writing + ["upsert", "arrayFilters"]
    private static let returning = updating + ["sort", "projection", "returnNewDocument"]
    private static let known = Set(
        returning + ["ordered", "enforceReadPref", "allowDiskUse", "limit", "skip"]
    )

    /// What a method's arguments are: names of documents and lists, in their order, before the options.
    private enum Form {
        case read
        case fields([(name: String, kind: Kind)], options: [String])
    }

    private enum Kind {
        /// `{}` when it is left out.
        case query
        case document
        case list
        /// A document of operators, or a pipeline.
        case update
        case text
    }

    private static let forms: [String: Form] = [
        "find": .read,
        "findOne": .read,
        "insertOne": .fields([("document", .document)], options: writing),
        "insertMany": .fields([("documents", .list)], options: writing + ["ordered"]),
        "updateOne": .fields([("query", .query), ("update", .update)], options: updating),
        "updateMany": .fields([("query", .query), ("update", .update)], options: updating),
        "replaceOne": .fields([("query", .query), ("update", .document)], options: updating),
        "deleteOne": .fields([("query", .query)], options: common),
        "deleteMany": .fields([("query", .query)], options: common),
        "findOneAndUpdate": .fields([("filter", .query), ("update", .update)], options: returning),
        "findOneAndReplace": .fields([("filter", .query), ("update", .document)], options: returning),
        "findOneAndDelete": .fields([("filter", .query)], options: common + ["sort", "projection"]),
        "aggregate": .fields([("pipeline", .list)], options: common + ["allowDiskUse"]),
        "distinct": .fields([("key", .text), ("query", .query)], options: common),
    ]

    /// Whether it changes nothing.
    var isRead: Bool { ["find", "findOne", "aggregate", "distinct"].contains(method) }

    /// The cursor that the method gives; nil for one that asks at once.
    func cursor(_ arguments: [BSONValue?]) throws(NotStraight) -> StraightCursor? {
        guard method == "find" || method == "aggregate" else { return nil }
        let (fields, options) = try fields(arguments)
        let cursor = StraightCursor(self, fields, options)
        guard method == "find" else { return cursor }
        for name in ["sort", "skip", "limit"] {
            if let value = try self.options(arguments)[name], value != .null, value != .undefined {
                try cursor.change(name, value)
            }
        }
        return cursor
    }

    /// What the gateway is asked.
    func call(_ arguments: [BSONValue?]) throws(NotStraight) -> HostCall {
        let (fields, options) = try fields(arguments)
        return call(fields, options)
    }

    /// The same, of its parts.
    func call(_ fields: BSONDocument, _ options: BSONDocument) -> HostCall {
        var arguments = place
        for field in fields { arguments.append(field.key, field.value) }
        // Of the same name is one argument, in the place of the first.
        for option in options { arguments[option.key] = option.value }
        return HostCall(
            name: "data",
            arguments: [
                "service": .string(service), "method": .string(method), "arguments": .document(arguments),
            ]
        )
    }

    private func fields(_ arguments: [BSONValue?]) throws(NotStraight) -> (
        BSONDocument, options: BSONDocument
    ) {
        switch Self.forms[method] {
        case .read?: return try read(arguments)
        case .fields(let names, let wanted)?:
            var fields = BSONDocument()
            for (index, (name, kind)) in names.enumerated() {
                fields.append(name, try Self.checked(index < arguments.count ? arguments[index] : nil, kind))
            }
            return (fields, Self.chosen(try options(arguments), wanted))
        case nil: throw NotStraight()
        }
    }

    private func read(_ arguments: [BSONValue?]) throws(NotStraight) -> (BSONDocument, options: BSONDocument)
    {
        let query = try Self.checked(arguments.first ?? nil, .query)
        let options = try options(arguments)
        var projection = arguments.count > 1 ? arguments[1] : nil
        // It may be options, of which one is a session.
        if projection?.document?["session"] != nil { throw NotStraight() }
        if projection == nil || projection == .null { projection = options["projection"] }
        var fields: BSONDocument = ["query": query]
        if let projection {
            if projection == .null || projection == .undefined { throw NotStraight() }
            fields.append("project", projection)
        }
        return (fields, Self.chosen(options, Self.common))
    }

    /// The options that were passed; of a session's calls nothing is known here.
    private func options(_ arguments: [BSONValue?]) throws(NotStraight) -> BSONDocument {
        let place =
            switch Self.forms[method] {
            case .fields(let names, _)?: names.count
            case .read?, nil: 2
            }
        guard arguments.count > place, let options = arguments[place], options != .null else { return [:] }
        guard let document = options.document,
            document.fields.allSatisfy({ Self.known.contains($0.key) })
        else { throw NotStraight() }
        return document
    }

    private static func chosen(_ options: BSONDocument, _ wanted: [String]) -> BSONDocument {
        var chosen = BSONDocument()
        for name in wanted {
            if let value = options[name], !value.isNull, value != .undefined { chosen.append(name, value) }
        }
        return chosen
    }

    private static func checked(_ value: BSONValue?, _ kind: Kind) throws(NotStraight) -> BSONValue {
        switch (kind, value) {
        case (.query, nil), (.query, .null?): return [:]
        case (.query, let value?): return value
        case (.document, .document(let document)?): return .document(document)
        case (.list, .array(let elements)?), (.update, .array(let elements)?): return .array(elements)
        case (.update, .document(let document)?):
            guard !document.isEmpty, document.fields.allSatisfy({ $0.key.hasPrefix("$") }) else {
                throw NotStraight()
            }
            return .document(document)
        case (.text, .string(let text)?): return .string(text)
        default: throw NotStraight()
        }
    }
}

/// What `find` and `aggregate` give: it asks when its documents are wanted.
final class StraightCursor {
    private let collection: CollectionCall
    private var fields: BSONDocument
    private let options: BSONDocument
    /// Whether its documents were asked for.
    var isWalked = false

    init(_ collection: CollectionCall, _ fields: BSONDocument, _ options: BSONDocument) {
        self.collection = collection
        self.fields = fields
        self.options = options
    }

    func call() -> HostCall { collection.call(fields, options) }

    /// Whether it changes nothing: a pipeline's last stage may write.
    var isRead: Bool {
        let stages = fields["pipeline"]?.array ?? []
        return !stages.contains { stage in
            stage.document?.fields.contains { $0.key == "$out" || $0.key == "$merge" } ?? true
        }
    }

    /// `sort`, `skip` and `limit`.
    func change(_ name: String, _ value: BSONValue) throws(NotStraight) {
        guard case .array(let stages)? = fields["pipeline"] else {
            switch (name, value) {
            case ("sort", .document): break
            case ("skip", .int32(let number)) where number >= 0,
                ("limit", .int32(let number)) where number >= 0:
                break
            default: throw NotStraight()
            }
            fields[name] = value
            return
        }
        guard name == "skip", case .int32(let number) = value, number >= 0 else { throw NotStraight() }
        fields["pipeline"] = .array(stages + [["$skip": value]])
    }
}
