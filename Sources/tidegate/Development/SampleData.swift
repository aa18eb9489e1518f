import Accounts
import BSON
import Errors
import Foundation
import MQL
import Observability
import Services

/// The sample app's user and documents, made at the first start.
struct SampleData {
    /// Who the printed curl lines log in as.
    struct User: Codable, Sendable {
        let id: String
        let email: String
        let password: String
    }

    let directory: URL

    private var file: URL { directory.appendingPathComponent("sample-user.json") }

    func prepare(_ composition: Composition) async throws -> User {
        if let text = try? Data(contentsOf: file), let user = try? JSONDecoder().decode(User.self, from: text)
        {
            return user
        }
        guard let app = composition.apps.app(clientAppID: SampleApp.clientAppID) else {
            throw ServiceError(.appNotFound, "the sample app did not load")
        }
        let password = Data((0..<12).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        try await composition.accounts.register(
            email: SampleApp.email,
            password: password,
            app.accounts
        )
        let login = try await composition.accounts.logIn(
            .emailPassword(username: SampleApp.email, password: password),
            app.accounts
        )
        var documents: [BSONDocument] = []
        for text in SampleApp.items(owner: login.userID) {
            documents.append(try ExtendedJSON.readDocument(Array(text.utf8)))
        }
        let context = CallContext(
            app: app,
            principal: .system,
            request: nil,
            deadline: .now + .seconds(30),
            trace: RequestTrace(requestID: "000000000000000000000000")
        )
        let items = Namespace(dataSource: "mongodb-atlas", database: "todo", collection: "Item")
        _ = try await composition.data.perform(
            DataOperation(namespace: items, action: .insertMany(InsertManyArguments(documents: documents))),
            context
        )
        let user = User(id: login.userID, email: SampleApp.email, password: password)
        try JSONEncoder().encode(user).write(to: file, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return user
    }
}
