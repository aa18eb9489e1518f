import AppDefinition
import Errors
import Services

extension AppRegistry {
    /// The app that a command names by internal id, client app id or name; without one the only one.
    func choose(_ wanted: String?) throws(ServiceError) -> AppSnapshot {
        guard let wanted else {
            if apps.count == 1, let only = apps.first { return only }
            throw ServiceError(.invalidSetting, "there are \(apps.count) apps; name one with --app")
        }
        let match =
            apps.first { $0.id == wanted } ?? apps.first { $0.clientAppID == wanted }
            ?? apps.first { $0.definition.name == wanted }
        guard let match else { throw ServiceError(.appNotFound, "there is no app '\(wanted)'") }
        return match
    }
}
