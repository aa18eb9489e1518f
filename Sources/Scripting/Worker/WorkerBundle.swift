internal import BSON

/// The functions and facts of the app that a worker serves.
final class WorkerBundle {
    private(set) var functions: [String: String] = [:]
    private var facts: BSONDocument = [:]
    private(set) var modules: [String: [UInt8]] = [:]

    func replace(_ document: BSONDocument) {
        functions = [:]
        for field in document["functions"]?.document ?? [:] { functions[field.key] = field.value.string }
        facts = document
        modules = [:]
    }

    func addModule(_ path: String, _ content: [UInt8]) {
        modules[path] = content
    }

    /// `app`, `environment`, `values` or `services`.
    func fact(_ name: String) -> BSONValue { facts[name] ?? .null }
}

extension ScriptBundle {
    /// What a worker is told of the bundle, its modules apart.
    var document: BSONDocument {
        var functions = BSONDocument()
        for (name, source) in self.functions { functions.append(name, .string(source)) }
        var services = BSONDocument()
        for (name, kind) in self.services { services.append(name, .string(kind)) }
        return [
            "functions": .document(functions), "app": .document(appFacts),
            "environment": .document(environment), "values": .document(values),
            "services": .document(services),
        ]
    }
}
