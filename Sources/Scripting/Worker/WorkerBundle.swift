internal import BSON
internal import CScriptRuntime

/// The functions and facts of the app that a worker serves.
final class WorkerBundle {
    private(set) var functions: [String: String] = [:]
    private var facts: BSONDocument = [:]
    private(set) var modules: [String: [UInt8]] = [:]
    /// The identifiers that were looked for in the sources.
    private var mentioned: [String: Bool] = [:]
    /// Those that a script came to in another way.
    private var learnt: Set<String> = []
    /// The functions whose sources were looked at, and whether they leave the language's objects as they are.
    private var proven: [String: Bool] = [:]
    /// Of those that do, whether they return the answer to what they ask last.
    private var answering: [String: Bool] = [:]

    func replace(_ document: BSONDocument) {
        functions = [:]
        for field in document["functions"]?.document ?? [:] { functions[field.key] = field.value.string }
        facts = document
        modules = [:]
        mentioned = [:]
        proven = [:]
        answering = [:]
    }

    func addModule(_ path: String, _ content: [UInt8]) {
        modules[path] = content
    }

    /// Whether a script is likely to use an identifier; packages are not searched, and may use all.
    func mentions(_ identifier: String) -> Bool {
        if !modules.isEmpty || learnt.contains(identifier) { return true }
        if let known = mentioned[identifier] { return known }
        let found = functions.values.contains { source in
            var source = source
            return source.withUTF8 { text in
                var identifier = identifier
                return identifier.withUTF8 {
                    cscript_contains(text.baseAddress, text.count, $0.baseAddress, $0.count) != 0
                }
            }
        }
        mentioned[identifier] = found
        return found
    }

    /// Whether a function surely leaves the language's objects as they are.
    ///
    /// - Parameters:
    ///   - function: Its name.
    ///   - globals: What the language's objects are called, with spaces between.
    /// - Returns: False for what is not sure.
    func isProven(_ function: String, globals: @autoclosure () -> String) -> Bool {
        if let known = proven[function] { return known }
        let names = Set(globals().split(separator: " ").map(String.init))
        let holds = functions[function].map { SourceProof.holds(for: $0, globals: names) } ?? false
        proven[function] = holds
        return holds
    }

    /// Whether a function that was asked for by ``isProven(_:globals:)`` is over with the answer to the call that it
    /// waits for.
    func endsWithAnswer(_ function: String) -> Bool {
        guard proven[function] ?? false, let source = functions[function] else { return false }
        if let known = answering[function] { return known }
        let ends = SourceEnding.isAnswer(in: source)
        answering[function] = ends
        return ends
    }

    /// A script uses an identifier that its sources do not show.
    func learn(_ identifier: String) {
        learnt.insert(identifier)
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
