import BSON
import Errors
import MQL

extension FunctionHost {
    /// A method of a collection, through the one way to the data.
    func perform(_ arguments: HostArguments) async throws(ServiceError) -> BSONValue {
        let service = try arguments.text("service")
        try call.app.requireService(service)
        let method = try arguments.text("method")
        let argument = try arguments.document("arguments")
        let limits = self.service.limits.parse
        let operation =
            if method == "aggregate", argument["collection"] == nil {
                try OperationParser.parse(databaseAggregate: argument, service: service, limits: limits)
            } else {
                try OperationParser.parse(
                    functionMethod: method,
                    service: service,
                    argument: argument,
                    limits: limits
                )
            }
        note(operation.action)
        let transaction = try arguments.session.map { (number) throws(ServiceError) in
            try session(number).transaction
        }
        let context = context
        let data = self.service.data
        let result: DataResult
        if let transaction = transaction ?? nil {
            result = try await transaction.take { () async throws(ServiceError) in
                try await data.perform(operation, context, within: transaction.enclosing)
            }
        } else if let enclosing = call.enclosing {
            // The write whose rules asked the function waits with its connection.
            await turns.begin()
            defer { turns.end() }
            result = try await data.perform(operation, context, within: enclosing)
        } else {
            result = try await data.perform(operation, context)
        }
        return try result.functionValue
    }

    /// The names of all databases.
    func databaseNames(_ arguments: HostArguments) async throws(ServiceError) -> BSONValue {
        try requireSystem(try arguments.text("service"), "getDBNames")
        return try await names(FunctionStatements.databases)
    }

    /// The names of a database's collections.
    func collectionNames(_ arguments: HostArguments) async throws(ServiceError) -> BSONValue {
        try requireSystem(try arguments.text("service"), "getCollectionNames")
        return try await names(FunctionStatements.collections(database: try arguments.text("database")))
    }

    private func requireSystem(_ service: String, _ method: ErrorMessage) throws(ServiceError) {
        try call.app.requireService(service)
        guard identity.runsAsSystem else {
            throw ServiceError(.invalidParameter, "'\(method)' is only available to a system user")
        }
    }
}

extension DataResult {
    /// What the method gives to a function.
    ///
    /// Source: `reference/functions.md` §5.2.
    fileprivate var functionValue: BSONValue {
        get throws(ServiceError) {
            switch try operationResult() {
            case .documents(let documents): return .array(documents.map { .document($0) })
            case .document(let document): return document.map { .document($0) } ?? .null
            case .inserted(let id): return ["insertedId": id]
            case .insertedMany(let ids): return ["insertedIds": .array(ids)]
            case .updated(let update):
                var document: BSONDocument = [
                    "matchedCount": .number(update.matched), "modifiedCount": .number(update.modified),
                ]
                if let id = update.upsertedID { document.append("upsertedId", id) }
                return .document(document)
            case .deleted(let count): return ["deletedCount": .number(count)]
            case .counted(let count): return .number(count)
            case .values(let values): return .array(values)
            case .bulkWritten(let result):
                if let first = result.errors.first { throw first.error }
                return .null
            }
        }
    }
}

extension BSONValue {
    /// A count: an int32 where it fits.
    fileprivate static func number(_ value: Int) -> BSONValue {
        Int32(exactly: value).map { .int32($0) } ?? .int64(Int64(value))
    }
}
