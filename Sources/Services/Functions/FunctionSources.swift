public import AppDefinition
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
                let column = fault.column > 0 ? ", column \(fault.column)" : ""
                faults.append(
                    Finding(
                        .error,
                        file: source.file,
                        path: source.path,
                        "line \(fault.line)\(column): \(fault.message)"
                    )
                )
            }
        }
        return faults
    }

    private static func sources(
        of function: FunctionDefinition
    ) -> [(text: String, file: String, path: String)] {
        let file = "functions/\(function.name).js"
        var sources = [(text: function.source, file: file, path: "")]
        if let script = function.runsAsUserScript {
            sources.append(
                (script, "functions/config.json", "run_as_user_id_script_source of '\(function.name)'")
            )
        }
        return sources
    }
}
