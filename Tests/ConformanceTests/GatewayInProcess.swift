import Accounts
import AppDefinition
import BSON
import Errors
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Observability
import Postgres
import Scripting
import TestSupport

@testable import HTTPGateway
@testable import Services

/// The whole gateway without a socket, so that a test can look at what happens inside: routes, accounts and data
/// over a real database.
struct GatewayInProcess {
    let database: Database
    let apps: AppRegistry
    let gateway: HTTPGateway
    private let responder: any HTTPResponder<GatewayContext>

    /// Imports an app and serves it.
    init(
        _ database: Database,
        app files: [String: String],
        authorizer: DataAuthorizer = DataAuthorizer()
    ) async throws {
        self.database = database
        let (tree, findings) = ConfigurationTreeReader.read(
            FileTree(files: files.mapValues { Array($0.utf8) })
        )
        guard let tree, let app = AppConfigurationParser.parse(tree).0 else {
            throw ServiceError(.invalidAppDefinition, "\(findings.errors.map(\.description).joined())")
        }
        _ = try await AppStore(database: database).import(tree, app)
        let apps = AppRegistry(database: database)
        try await apps.load()
        self.apps = apps
        let ids = ObjectIDGenerator(processUnique: .random(in: 0..<(1 << 40)), counter: 1)
        let data = DataService(
            database: database,
            catalog: CollectionCatalog(database: database),
            ids: ids,
            authorizer: authorizer,
            now: { 1_700_000_000_123 }
        )
        let accounts = AccountService(
            database: database,
            apps: { apps.app(id: $0)?.accounts },
            ids: ids,
            customUserData: data,
            fetchKeys: { _ in [] },
            now: { Int64(Date().timeIntervalSince1970 * 1000) }
        )
        gateway = HTTPGateway(
            apps: apps,
            accounts: accounts,
            data: data,
            watches: WatchService(database: database, apps: apps, data: data, now: { 1_700_000_000_123 }),
            functions: FunctionService(accounts: accounts, data: data, scripts: ScriptPool(command: [])),
            settings: GatewaySettings(),
            observer: Observer { _ in },
            requestIDs: ids,
            health: { true }
        )
        responder = gateway.responder()
    }

    /// Sends one request through everything but the socket.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: [(HTTPField.Name, String)] = [],
        body: String = ""
    ) async throws -> (status: Int, text: String) {
        var fields = HTTPFields()
        for (name, value) in headers { fields[name] = value }
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "localhost",
            path: path,
            headerFields: fields
        )
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        let channel = NIOAsyncTestingChannel()
        let context = GatewayContext(
            source: ApplicationRequestContextSource(channel: channel, logger: Logger(label: "tests"))
        )
        let response = try await responder.respond(to: request, context: context)
        let writer = CollectedBody()
        try await response.body.write(writer)
        return (response.status.code, String(buffer: await writer.storage.buffer))
    }
}

/// Gathers what a response writes.
private struct CollectedBody: ResponseBodyWriter {
    actor Storage {
        var buffer = ByteBuffer()
        func add(_ part: ByteBuffer) { buffer.writeImmutableBuffer(part) }
    }

    let storage = Storage()

    func write(_ buffer: ByteBuffer) async throws { await storage.add(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
