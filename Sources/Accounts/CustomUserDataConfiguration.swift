public import BSON

/// Where an app keeps one document per user.
///
/// Source: `reference/app-config.md` §4.2.
public struct CustomUserDataConfiguration: Sendable, Hashable {
    /// The data source's name; nil means the only one.
    public let serviceName: String?
    /// The database of the collection.
    public let databaseName: String
    /// The collection that holds the documents.
    public let collectionName: String
    /// The field that holds the user's id, as text or as an ObjectId.
    public let userIDField: String
    /// The function to run before a user is made.
    public let onUserCreationFunctionName: String?

    /// Made of its parts.
    public init(
        serviceName: String?,
        databaseName: String,
        collectionName: String,
        userIDField: String,
        onUserCreationFunctionName: String? = nil
    ) {
        self.serviceName = serviceName
        self.databaseName = databaseName
        self.collectionName = collectionName
        self.userIDField = userIDField
        self.onUserCreationFunctionName = onUserCreationFunctionName
    }

    /// Reads `auth/custom_user_data.json`, or the object of the same shape in an older root file.
    ///
    /// - Returns: nil when it is not enabled or cannot be used; every fault found.
    public static func parse(
        _ document: BSONDocument
    ) -> (configuration: CustomUserDataConfiguration?, faults: [ProviderFault]) {
        guard document["enabled"]?.bool == true else { return (nil, []) }
        var faults: [ProviderFault] = []
        func required(_ key: String) -> String {
            if let text = document[key]?.string, !text.isEmpty { return text }
            faults.append(ProviderFault(.error, path: key, "must be a string that is not empty"))
            return ""
        }
        let database = required("database_name")
        let collection = required("collection_name")
        let field = required("user_id_field")
        let function = document["on_user_creation_function_name"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        guard !faults.contains(where: { $0.severity == .error }) else { return (nil, faults) }
        let service = document["mongo_service_name"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        return (
            CustomUserDataConfiguration(
                serviceName: service,
                databaseName: database,
                collectionName: collection,
                userIDField: field,
                onUserCreationFunctionName: function
            ), faults
        )
    }
}
