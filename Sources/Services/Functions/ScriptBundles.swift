import AppDefinition
import BSON
import Errors
import Foundation
import Observability
import Postgres
import SQL
import Scripting
import Synchronization

/// The bundles of the apps' newest versions, each made once.
final class ScriptBundles: Sendable {
    /// The packages of an app, and the archives that they are from.
    private struct Packages {
        var archives: [String: String] = [:]
        var modules: [String: [UInt8]] = [:]
    }

    private let database: Database
    private let observer: Observer?
    private let packages = Mutex<[String: Packages]>([:])
    private let bundles = Mutex<[String: ScriptBundle]>([:])

    init(database: Database, observer: Observer?) {
        self.database = database
        self.observer = observer
    }

    /// The bundle of an app at its version, if it has been made.
    func known(of app: AppSnapshot) -> ScriptBundle? {
        guard let known = bundles.withLock({ $0[app.id] }), known.version == app.version else { return nil }
        return known
    }

    /// What the engine is told of an app at its version.
    func bundle(of app: AppSnapshot) async throws(ServiceError) -> ScriptBundle {
        if let known = known(of: app) { return known }
        let made = make(app, try await modules(of: app))
        bundles.withLock { bundles in
            // An older request may come after the first of a newer version.
            if (bundles[app.id]?.version ?? .min) < made.version { bundles[app.id] = made }
        }
        return made
    }

    /// What an app's archives hold, unpacked again only when one of them is another.
    private func modules(of app: AppSnapshot) async throws(ServiceError) -> [String: [UInt8]] {
        let rows = try await database.run(
            FunctionStatements.archives(app: app.id, PackageArchive.paths),
            plan: .generic
        )
        var archives: [String: String] = [:]
        for row in 0..<rows.rowCount { archives[rows.text(row, 0) ?? ""] = rows.text(row, 1) ?? "" }
        if archives.isEmpty { return [:] }
        if let known = packages.withLock({ $0[app.id] }), known.archives == archives { return known.modules }
        var modules: [String: [UInt8]] = [:]
        for path in archives.keys.sorted() {
            let rows = try await database.run(
                FunctionStatements.file(app: app.id, path: path),
                within: .seconds(120)
            )
            guard rows.rowCount > 0, let hex = rows.slice(0, 0) else { continue }
            do throws(ArchiveFault) {
                modules.merge(try PackageArchive.modules(AppRows.bytes(hex: hex))) { first, _ in first }
            } catch {
                // Functions that ask for none of its packages go on; the others say which module is missing.
                let reason = "\(path): \(error.message)"
                observer?.record(.configurationRefused(app: app.clientAppID, reason: reason))
            }
        }
        let unpacked = Packages(archives: archives, modules: modules)
        packages.withLock { $0[app.id] = unpacked }
        return modules
    }

    private func make(_ app: AppSnapshot, _ modules: [String: [UInt8]]) -> ScriptBundle {
        let definition = app.definition
        return ScriptBundle(
            app: app.id,
            version: app.version,
            functions: Dictionary(
                definition.functions.map { ($0.name, $0.source) },
                uniquingKeysWith: { first, _ in first }
            ),
            modules: modules,
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
