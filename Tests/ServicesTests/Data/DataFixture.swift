import Accounts
import AppDefinition
import BSON
import Errors
import MQL
import Observability
import Postgres
import SQL
import Services
import TestSupport

/// The data service over a database of its own, with the app of the integration tests.
struct DataFixture {
    let database: Database
    let data: DataService
    let catalog: CollectionCatalog
    let app: AppSnapshot

    /// - Parameters:
    ///   - hiddenFieldQueries: Whether callers may ask for fields that they cannot read.
    ///   - added: Further files of the app.
    /// - Throws: What PostgreSQL or the app's files are at fault with.
    init(hiddenFieldQueries: Bool = true, added: [String: String] = [:]) async throws {
        let connection = try await TestCluster.shared.makeDatabase(migrated: true)
        database = Database(settings: .patient(connection, maxConnections: 8))
        catalog = CollectionCatalog(database: database)
        data = DataService(
            database: database,
            catalog: catalog,
            ids: ObjectIDGenerator(processUnique: 1, counter: 1),
            now: { 1_700_000_000_123 }
        )
        var files = TestApp.files.merging(added) { $1 }
        if !hiddenFieldQueries, let root = files["realm_config.json"] {
            files["realm_config.json"] = root.dropLast() + #", "allow_hidden_field_queries": false}"#
        }
        let (tree, findings) = ConfigurationTreeReader.read(
            FileTree(files: files.mapValues { Array($0.utf8) })
        )
        guard let tree, let app = AppConfigurationParser.parse(tree).0 else {
            throw ServiceError(
                .invalidAppDefinition,
                "\(findings.errors.map(\.description).joined(separator: "\n"))"
            )
        }
        self.app = AppSnapshot(
            id: "65f0c0ffee00000000000001",
            clientAppID: TestApp.clientAppID,
            version: 1,
            definition: app,
            secrets: [:]
        )
    }

    static let ann = user("65f0c0ffee0000000000aaaa")
    static let bob = user("65f0c0ffee0000000000bbbb")

    static func user(_ id: String) -> Principal {
        .user(
            UserProfile(
                id: id,
                kind: .normal,
                data: ["email": .string("\(id)@example.com")],
                customData: nil,
                identities: []
            )
        )
    }

    static func id(_ principal: Principal) -> String {
        if case .user(let profile) = principal { profile.id } else { "" }
    }

    func perform(
        _ action: String,
        _ collection: String,
        _ members: String,
        as caller: Principal
    ) async throws(ServiceError) -> DataResult {
        var body: BSONDocument = [
            "dataSource": "mongodb-atlas", "database": "todo", "collection": .string(collection),
        ]
        for field in try ExtendedJSON.readDocument(Array(members.utf8)) { body[field.key] = field.value }
        let context = CallContext(
            app: app,
            principal: caller,
            request: nil,
            deadline: .now + .seconds(900),
            trace: RequestTrace(requestID: "65f0c0ffee0000000000cccc")
        )
        return try await data.perform(try OperationParser.parse(action: action, body: body), context)
    }

    /// The documents of an answer as plain JSON.
    func documents(
        _ action: String,
        _ collection: String,
        _ members: String,
        as caller: Principal = .system
    ) async throws(ServiceError) -> String {
        let result = try await perform(action, collection, members, as: caller)
        var text: [UInt8] = []
        try result.encodeDocuments(as: .plain, into: &text)
        // What is passed through has to be what reading and writing gives.
        if case .documents(let documents) = try result.operationResult() {
            var written: [UInt8] = []
            for (index, document) in documents.enumerated() {
                if index > 0 { written.append(UInt8(ascii: ",")) }
                PlainJSON.write(.document(document), to: &written)
            }
            guard written == text else { throw ServiceError(.internalServerError, "transcoding differs") }
        }
        return String(decoding: text, as: UTF8.self)
    }

    func insert(_ collection: String, _ documents: String...) async throws(ServiceError) {
        _ = try await perform(
            "insertMany",
            collection,
            #"{"documents":[\#(documents.joined(separator: ","))]}"#,
            as: .system
        )
    }

    /// matched, modified.
    func update(
        _ action: String,
        _ collection: String,
        _ members: String,
        as caller: Principal = .system
    ) async throws(ServiceError) -> [Int] {
        guard case .updated(let result) = try await perform(action, collection, members, as: caller) else {
            return []
        }
        return [result.matched, result.modified]
    }
}
