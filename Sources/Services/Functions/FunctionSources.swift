public import AppDefinition
public import Errors
public import Scripting

/// Finds functions that do not parse, with file, line and column.
public struct FunctionSources: Sendable {
    private let scripts: any Scripts

    /// Parses by an engine; nothing of a source runs.
    public init(_ scripts: any Scripts) {
        self.scripts = scripts
    }

    /// The faults of an app's functions and run-as scripts.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - known: What was found to parse before; equal sources are not looked at again.
    /// - Returns: One error for each source that does not parse.
    public func faults(of app: AppConfiguration, except known: AppConfiguration? = nil) async -> [Finding] {
        var good: Set<String> = []
        for function in known?.functions ?? [] { good.formUnion(Self.sources(of: function).map(\.text)) }
        var faults: [Finding] = []
        for function in app.functions {
            for source in Self.sources(of: function) where !good.contains(source.text) {
                // No line: nobody had the time to look.
                guard let fault = await scripts.check(source.text, file: source.file), fault.line > 0 else {
                    continue
                }
                faults.append(Finding(.error, file: source.file, path: source.path, Self.text(of: fault)))
            }
        }
        return faults
    }

    /// Looks at a function that is not set yet.
    ///
    /// - Parameters:
    ///   - name: The function's.
    ///   - source: Its source.
    ///   - script: Its `run_as_user_id_script_source`, if it has one.
    /// - Throws: `functionSyntaxError` with file, line and column when one of them does not parse;
    ///   `maintenanceInProgress` when nobody had the time to look.
    public func check(_ name: String, source: String, script: String?) async throws(ServiceError) {
        for source in Self.sources(name: name, source: source, script: script) {
            guard let fault = await scripts.check(source.text, file: source.file) else { continue }
            guard fault.line > 0 else { throw ServiceError(.maintenanceInProgress, "\(fault.message)") }
            let place = source.path.isEmpty ? source.file : "\(source.file) \(source.path)"
            throw ServiceError(.functionSyntaxError, "\(place): \(Self.text(of: fault))")
        }
    }

    private static func text(of fault: SyntaxFault) -> String {
        "line \(fault.line)\(fault.column > 0 ? ", column \(fault.column)" : ""): \(fault.message)"
    }

    private static func sources(
        of function: FunctionDefinition
    ) -> [(text: String, file: String, path: String)] {
        sources(name: function.name, source: function.source, script: function.runsAsUserScript)
    }

    private static func sources(
        name: String,
        source: String,
        script: String?
    ) -> [(text: String, file: String, path: String)] {
        var sources = [(text: source, file: "functions/\(name).js", path: "")]
        if let script {
            sources.append((script, "functions/config.json", "run_as_user_id_script_source of '\(name)'"))
        }
        return sources
    }
}
