public import Accounts
public import BSON
public import Errors
import MQL
import Rules

extension DataService: CustomUserDataSource {
    /// Looks the document up as the system; an id kept as text wins over one kept as an ObjectId.
    public func customUserData(
        of userID: String,
        appID: String,
        _ configuration: CustomUserDataConfiguration
    ) async throws(ServiceError) -> BSONDocument? {
        var ids: [BSONValue] = [.string(userID)]
        if let id = ObjectID(hex: userID) { ids.append(.objectID(id)) }
        // Rules do not apply, so that the data source's name decides nothing here.
        let namespace = Namespace(
            dataSource: configuration.serviceName ?? "",
            database: configuration.databaseName,
            collection: configuration.collectionName
        )
        for id in ids {
            let filter = Filter.field(FieldPath(configuration.userIDField), .compare(.equal, id))
            let operation = DataOperation(
                namespace: namespace,
                action: .findOne(FindArguments(filter: filter))
            )
            let found = try await perform(operation, plan: .system, deadline: .now + .seconds(10))
            if case .document(let documents) = found, let document = try documents.values().first {
                return document
            }
        }
        return nil
    }
}
