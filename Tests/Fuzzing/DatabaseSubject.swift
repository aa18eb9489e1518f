import Accounts
import AppDefinition
import BSON
import Dispatch
import Errors
import MQL
import Observability
import Postgres
import SQL
import Services
import Synchronization
import TestSupport

/// Bodies of the Data API all the way: whatever parses runs in PostgreSQL, and finds what the evaluator finds.
struct DatabaseSubject: FuzzSubject {
    let name = "query"
    private let data: DataService
    private let app: AppSnapshot

    init(_ connection: String) throws {
        let database = Database(settings: PostgresSettings(connectionString: connection, maxConnections: 4))
        data = DataService(
            database: database,
            catalog: CollectionCatalog(database: database),
            ids: ObjectIDGenerator(processUnique: 1, counter: 1),
            now: { 1_700_000_000_123 }
        )
        let files = FileTree(files: TestApp.files.mapValues { Array($0.utf8) })
        guard let tree = ConfigurationTreeReader.read(files).tree,
            let definition = AppConfigurationParser.parse(tree).app
        else { throw Finding("the app of the tests does not pass the check") }
        app = AppSnapshot(
            id: "65f0c0ffee00000000000001",
            clientAppID: TestApp.clientAppID,
            version: 1,
            definition: definition,
            secrets: [:]
        )
    }

    func run(_ input: [UInt8]) throws -> Bool {
        guard var body = try attempt({ () throws(ServiceError) in try ExtendedJSON.readDocument(input) }),
            let action = body["action"]?.string
        else { return false }
        body["action"] = nil
        body["dataSource"] = "mongodb-atlas"
        body["database"] = "todo"
        body["collection"] = "Open"
        guard
            let operation = try attempt({ () throws(ServiceError) in
                try OperationParser.parse(action: action, body: body)
            })
        else { return false }
        if operation.action.mayWrite {
            try reset(operation.namespace)
            return try perform(operation) != nil
        }
        try reset(operation.namespace)
        let found = try perform(operation)
        guard case .find(let arguments) = operation.action, arguments.sort == nil,
            arguments.projection == nil,
            arguments.skip == 0, case .documents(let documents)? = try found?.operationResult()
        else { return true }
        try compare(documents, arguments)
        return true
    }

    private func compare(_ found: [BSONDocument], _ arguments: FindArguments) throws {
        let context = EvaluationContext(now: 1_700_000_000_123)
        let expected = SampleDocuments.all.filter {
            (try? arguments.filter.matches($0, context)) == true
        }
        guard arguments.limit.map({ expected.count <= $0 }) ?? true else { return }
        let ids = Set(found.map { ExtendedJSON.canonical($0["_id"] ?? .null) })
        let wanted = Set(expected.map { ExtendedJSON.canonical($0["_id"] ?? .null) })
        if ids != wanted {
            throw Finding("SQL and evaluator differ: \(ids.symmetricDifference(wanted).sorted())")
        }
    }

    /// The same documents before every operation.
    private func reset(_ namespace: Namespace) throws {
        _ = try perform(DataOperation(namespace: namespace, action: .deleteMany(.all)))
        _ = try perform(
            DataOperation(
                namespace: namespace,
                action: .insertMany(InsertManyArguments(documents: SampleDocuments.all))
            )
        )
    }

    private func perform(_ operation: DataOperation) throws -> DataResult? {
        let context = CallContext(
            app: app,
            principal: .system,
            request: nil,
            deadline: .now + .seconds(30),
            trace: RequestTrace(requestID: "65f0c0ffee0000000000cccc")
        )
        let outcome = Mutex<Result<DataResult, ServiceError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task.detached { [data] in
            do throws(ServiceError) {
                let value = try await data.perform(operation, context)
                outcome.withLock { $0 = .success(value) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        switch outcome.withLock({ $0 }) {
        case .success(let value): return value
        case .failure(let error):
            if error.code == .internalServerError {
                throw Finding("internal error: \(error.message) \(error.cause.map { "\($0)" } ?? "")")
            }
            return nil
        case nil: return nil
        }
    }
}
