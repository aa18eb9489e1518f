internal import CJavaScript

/// Parses without running.
struct SyntaxCheck {
    let engine: ScriptEngine

    func fault(of source: String, file: String) -> SyntaxFault? {
        let context = JSGlobalContextCreateInGroup(engine.group, nil)
        defer { JSGlobalContextRelease(context) }
        var exception: JSValueRef?
        let parses = EngineText.with(source) { text in
            EngineText.with(file) { JSCheckScriptSyntax(context, text, $0, 1, &exception) }
        }
        guard !parses, let exception else { return nil }
        let line = number("line", of: exception, context)
        let words = source.split(separator: "\n", omittingEmptySubsequences: false)
        var message = ScriptContext.describe(context, exception)
        let text = words.indices.contains(line - 1) ? words[line - 1] : ""
        for word in ["import", "export"] where text.drop(while: \.isWhitespace).hasPrefix(word + " ") {
            message =
                "SyntaxError: \(word) is not supported: use require, and assign the function to `exports`"
        }
        return SyntaxFault(
            file: file,
            line: max(1, line),
            // The engine tells the line alone; a column there would be that of whoever asked.
            column: 0,
            message: message
        )
    }

    private func number(_ name: String, of exception: JSValueRef, _ context: JSContextRef?) -> Int {
        guard let object = JSValueToObject(context, exception, nil) else { return 0 }
        let value = EngineText.with(name) { JSObjectGetProperty(context, object, $0, nil) }
        guard let value, JSValueIsNumber(context, value) else { return 0 }
        return Int(JSValueToNumber(context, value, nil))
    }
}
