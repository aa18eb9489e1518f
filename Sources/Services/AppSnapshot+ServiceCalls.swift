import AppDefinition
public import BSON
public import Errors
public import MQL
import Schemas

extension AppSnapshot {
    /// The operation that a call of the MongoDB service asks for.
    ///
    /// - Parameters:
    ///   - name: The service's action, such as `findOne`.
    ///   - service: The data source.
    ///   - arguments: What the caller sent: one object.
    ///   - limits: How much one request may ask.
    /// - Returns: What is to be done, and where; nobody has said yet that the caller may.
    /// - Throws: ``ServiceError`` `serviceNotFound` with ``UnknownService`` as its cause, `serviceCommandNotFound`,
    ///   and what the parser refuses.
    ///
    /// Source: `reference/client-api.md` §9.
    public func serviceOperation(
        _ name: String,
        service: String,
        arguments: [BSONValue],
        limits: ParseLimits
    ) throws(ServiceError) -> DataOperation {
        try requireService(service)
        if name == "watch" {
            throw ServiceError(.invalidParameter, "a watch is a stream, which is asked for by GET")
        }
        guard OperationParser.serviceActions.contains(name) else {
            throw ServiceError(.serviceCommandNotFound, "service command not found: '\(name)'")
        }
        return try OperationParser.parse(
            serviceAction: name,
            service: service,
            argument: try serviceArgument(arguments, of: service),
            limits: limits
        )
    }

    /// The watch that a call of the MongoDB service asks for.
    ///
    /// - Throws: ``ServiceError`` as ``serviceOperation(_:service:arguments:limits:)``.
    public func watchOperation(
        _ name: String,
        service: String,
        arguments: [BSONValue],
        limits: ParseLimits
    ) throws(ServiceError) -> DataOperation {
        try requireService(service)
        guard name == "watch" else {
            throw ServiceError(.invalidParameter, "only 'watch' is asked for by GET")
        }
        return try OperationParser.parseWatch(
            try serviceArgument(arguments, of: service),
            service: service,
            limits: limits
        )
    }

    /// - Throws: ``ServiceError`` `serviceNotFound` with ``UnknownService`` as its cause.
    func requireService(_ service: String) throws(ServiceError) {
        guard hasDataSource(service) else {
            throw ServiceError(.serviceNotFound, "service not found: '\(service)'", cause: UnknownService())
        }
    }

    /// The only argument of a service call, with the collection that a `schema_name` stands for.
    func serviceArgument(_ arguments: [BSONValue], of service: String) throws(ServiceError) -> BSONDocument {
        guard arguments.count == 1, case .document(var argument) = arguments[0] else {
            throw ServiceError(
                .invalidParameter,
                "'arguments' must hold one object",
                details: ["arguments": "must hold one object"]
            )
        }
        guard let title = argument["schema_name"], !title.isNull else { return argument }
        guard case .string(let title) = title else {
            throw ServiceError(
                .invalidParameter,
                "'schema_name' must be a string",
                details: ["schema_name": "must be a string"]
            )
        }
        let collection = definition.dataSource(service)?.collections.first { $0.schema?.title == title }
        guard let collection else {
            throw ServiceError(
                .invalidParameter,
                "no matching collection found that maps to a table with title \"\(title)\"",
                details: ["schema_name": "is no schema's title"]
            )
        }
        argument["database"] = .string(collection.database)
        argument["collection"] = .string(collection.collection)
        return argument
    }
}

/// The cause of `service not found` where a URL's caller has named the service: the client API answers 404.
public struct UnknownService: LoggableCause, Sendable {
    /// Nothing that the message does not say.
    public var logText: String { "the app has no such data source" }
}
