import BSON
import Errors

/// Reads the members of a request body, each by its name and type.
///
/// A member that is null counts as absent. Errors are `missingParameter` and `invalidParameter`, their
/// message and `details` name the member. Source: `reference/data-api.md` §§2, 7.
struct OperationArguments {
    let body: BSONDocument
    /// What members are called in this request, where that is not the Data API's name for them.
    var names: [String: String] = [:]
    /// Whether a filter that is absent stands for all documents, in writes, too.
    var mayOmitFilter = false

    /// What the request calls a member.
    func sentName(_ name: String) -> String { names[name] ?? name }

    /// The member, unless it is absent or null.
    func value(_ name: String) -> BSONValue? {
        guard let value = body[sentName(name)], !value.isNull else { return nil }
        return value
    }

    /// A member that must be there.
    func required(_ name: String) throws(ServiceError) -> BSONValue {
        guard let value = value(name) else {
            throw ServiceError(
                .missingParameter,
                "must provide a '\(sentName(name))' field",
                serverCode: ServerErrorCode(40414),
                details: [sentName(name): "is required"]
            )
        }
        return value
    }

    /// A document that may be absent.
    func document(_ name: String) throws(ServiceError) -> BSONDocument? {
        guard let value = value(name) else { return nil }
        guard case .document(let document) = value else {
            throw Self.invalid(sentName(name), "must be an object", .typeMismatch)
        }
        return document
    }

    /// A document that must be there.
    func requiredDocument(_ name: String) throws(ServiceError) -> BSONDocument {
        guard case .document(let document) = try required(name) else {
            throw Self.invalid(sentName(name), "must be an object", .typeMismatch)
        }
        return document
    }

    /// An array that must be there.
    func requiredArray(_ name: String) throws(ServiceError) -> [BSONValue] {
        guard case .array(let elements) = try required(name) else {
            throw Self.invalid(sentName(name), "must be an array", .typeMismatch)
        }
        return elements
    }

    /// An array of documents; empty when absent.
    func documents(_ name: String) throws(ServiceError) -> [BSONDocument] {
        guard let value = value(name) else { return [] }
        guard case .array(let elements) = value else {
            throw Self.invalid(sentName(name), "must be an array", .typeMismatch)
        }
        return try Self.documents(elements, of: sentName(name))
    }

    /// The elements of an array, which must be documents.
    static func documents(_ elements: [BSONValue], of name: String) throws(ServiceError) -> [BSONDocument] {
        var documents: [BSONDocument] = []
        documents.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            guard case .document(let document) = element else {
                throw invalid("\(name)[\(index)]", "must be an object", .typeMismatch)
            }
            documents.append(document)
        }
        return documents
    }

    /// A boolean.
    func flag(_ name: String, default absent: Bool = false) throws(ServiceError) -> Bool {
        guard let value = value(name) else { return absent }
        guard case .bool(let flag) = value else {
            throw Self.invalid(sentName(name), "must be a boolean", .typeMismatch)
        }
        return flag
    }

    /// A whole number that is not negative; nil when absent.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - fraction: MongoDB's code for a number that is not whole.
    /// - Returns: The number.
    /// - Throws: ``ServiceError`` with server code 14, 2 or that of `fraction`.
    func count(_ name: String, fraction: ServerErrorCode = .badValue) throws(ServiceError) -> Int? {
        guard let value = value(name) else { return nil }
        guard value.isNumber else { throw Self.invalid(sentName(name), "must be a number", .typeMismatch) }
        guard let number = value.exactInt64, let count = Int(exactly: number) else {
            throw Self.invalid(sentName(name), "must be a whole number", fraction)
        }
        if count < 0 { throw Self.invalid(sentName(name), "must not be negative") }
        return count
    }

    /// How many documents are left out: doubles are cut off, decimals rounded.
    func skip() throws(ServiceError) -> Int {
        guard let value = value("skip") else { return 0 }
        guard let number = NumericValue(value) else {
            throw Self.invalid(sentName("skip"), "must be a number", .typeMismatch)
        }
        let whole = number.roundedInt64 ?? (number.isNaN ? 0 : (value.doubleValue ?? 0) < 0 ? .min : .max)
        if whole < 0 { throw Self.invalid(sentName("skip"), "must not be negative") }
        return Int(clamping: whole)
    }

    /// A string that must be there, neither empty nor with a NUL.
    func requiredText(_ name: String) throws(ServiceError) -> String {
        guard case .string(let text) = try required(name) else {
            throw Self.invalid(sentName(name), "must be a string", .typeMismatch)
        }
        if text.isEmpty { throw Self.invalid(sentName(name), "must not be empty") }
        if text.utf8.contains(0) { throw Self.invalid(sentName(name), "must not contain a NUL character") }
        return text
    }

    /// The error for a member with a value that it cannot have.
    static func invalid(_ name: String, _ fault: String, _ code: ServerErrorCode = .badValue) -> ServiceError
    {
        ServiceError(.invalidParameter, "'\(name)' \(fault)", serverCode: code, details: [name: fault])
    }
}

/// Reads the address of a collection.
enum NamespaceParser {
    private static let maximumDatabaseBytes = 63
    private static let maximumNamespaceBytes = 255

    /// - Throws: ``ServiceError`` with code `missingParameter` or `invalidParameter`.
    static func namespace(_ arguments: OperationArguments) throws(ServiceError) -> Namespace {
        let dataSource = try arguments.requiredText("dataSource")
        let database = try arguments.requiredText("database")
        let collection = try arguments.requiredText("collection")
        if database.utf8.count > maximumDatabaseBytes {
            throw OperationArguments.invalid(
                "database",
                "must not be longer than \(maximumDatabaseBytes) bytes"
            )
        }
        if database.utf8.contains(where: { #"/\. "$"#.utf8.contains($0) }) {
            throw OperationArguments.invalid("database", #"must not contain any of the characters /\. "$"#)
        }
        if collection.utf8.contains(UInt8(ascii: "$")) {
            throw OperationArguments.invalid("collection", "must not contain the character $")
        }
        if collection.utf8.first == UInt8(ascii: ".") {
            throw OperationArguments.invalid("collection", "must not start with '.'")
        }
        if collection.utf8.starts(with: "system.".utf8) {
            throw OperationArguments.invalid("collection", "must not start with 'system.'")
        }
        if database.utf8.count + 1 + collection.utf8.count > maximumNamespaceBytes {
            throw OperationArguments.invalid(
                "collection",
                "must not make a namespace of more than \(maximumNamespaceBytes) bytes"
            )
        }
        return Namespace(dataSource: dataSource, database: database, collection: collection)
    }
}
