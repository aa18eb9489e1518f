import AppDefinition
import BSON
import Errors
import Foundation
import Postgres
import Scripting
import Synchronization

/// The bundles of the apps' newest versions, each made once.
final class ScriptBundles: Sendable {
    private let database: Database
    private let bundles = Mutex<[String: ScriptBundle]>([:])

    init(database: Database) {
        self.database = database
    }

    /// What the engine is told of an app at its version.
    func bundle(of app: AppSnapshot) async throws(ServiceError) -> ScriptBundle {
        if let known = bundles.withLock({ $0[app.id] }), known.version == app.version { return known }
        let made = make(app)
        bundles.withLock { bundles in
            // An older request may come after the first of a newer version.
            if (bundles[app.id]?.version ?? .min) < made.version { bundles[app.id] = made }
        }
        return made
    }

    private func make(_ app: AppSnapshot) -> ScriptBundle {
        let definition = app.definition
        return ScriptBundle(
            app: app.id,
            version: app.version,
            functions: Dictionary(
                definition.functions.map { ($0.name, $0.source) },
                uniquingKeysWith: { first, _ in first }
            ),
            modules: [:],
            appFacts: [
                "id": .string(app.id), "clientAppId": .string(app.clientAppID),
                "name": .string(definition.name), "projectId": .string(app.id),
                "deployment": [
                    "model": .string(definition.deploymentModel),
                    "providerRegion": .string(definition.location),
                ],
                "lastDeployed": .string(Date().ISO8601Format()), "hostingUri": "",
            ],
            environment: [
                "tag": .string(app.environmentTag), "values": .document(app.environmentValues),
            ],
            values: app.values,
            services: Dictionary(
                definition.dataSources.map { ($0.name, "mongodb-atlas") },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }
}
