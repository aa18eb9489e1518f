internal import CJavaScript

/// Parses without running.
struct SyntaxCheck {
    let engine: ScriptEngine

    /// The fault of a source; nil when it parses.
    func fault(of source: String, file: String) -> SyntaxFault? {
        let context = JSGlobalContextCreateInGroup(engine.group, nil)
        defer { JSGlobalContextRelease(context) }
        let units = Array(source.utf16)
        guard let refusal = refusal(of: units[...], file, context) else { return nil }
        let line = SourceLine(of: units, number: refusal.line)
        var message = refusal.message
        let text = String(decoding: units[line.range], as: UTF16.self).drop(while: \.isWhitespace)
        for word in ["import", "export"] where text.hasPrefix(word + " ") {
            message =
                "SyntaxError: \(word) is not supported: use require, and assign the function to `exports`"
        }
        let place = place(of: refusal, in: units, line) { self.refusal(of: $0, file, context) }
        return SyntaxFault(
            file: file,
            line: refusal.line,
            column: place.map { $0 - line.range.lowerBound + 1 } ?? 0,
            message: message
        )
    }

    /// What the engine says of a source, and in which line.
    private struct Refusal: Equatable {
        let line: Int
        let message: String

        /// Whether it is the end of the source that should not be there.
        var isOfEnd: Bool { message.contains("end of script") || message.contains("EOF") }
    }

    private func refusal(of units: ArraySlice<UInt16>, _ file: String, _ context: JSContextRef?) -> Refusal? {
        var exception: JSValueRef?
        let text = units.withUnsafeBufferPointer { JSStringCreateWithCharacters($0.baseAddress, $0.count) }
        defer { JSStringRelease(text) }
        let parses = EngineText.with(file) { JSCheckScriptSyntax(context, text, $0, 1, &exception) }
        guard !parses, let exception else { return nil }
        return Refusal(
            line: max(1, number("line", of: exception, context)),
            message: ScriptContext.describe(context, exception)
        )
    }

    /// Where the token begins that the engine refuses.
    ///
    /// The engine tells the line alone. It refuses the same in every source that goes on to the end of that
    /// token, and in none that ends before: so the end is found by halves.
    private func place(
        of refusal: Refusal,
        in units: [UInt16],
        _ line: SourceLine,
        _ look: (ArraySlice<UInt16>) -> Refusal?
    ) -> Int? {
        if refusal.isOfEnd { return line.range.upperBound }
        guard look(units[..<line.range.upperBound]) == refusal else { return nil }
        var before = line.range.lowerBound
        var end = line.range.upperBound
        while end - before > 1 {
            let middle = before + (end - before) / 2
            if look(units[..<middle]) == refusal { end = middle } else { before = middle }
        }
        return line.start(ofTokenBefore: end, in: units)
    }

    private func number(_ name: String, of exception: JSValueRef, _ context: JSContextRef?) -> Int {
        guard let object = JSValueToObject(context, exception, nil) else { return 0 }
        let value = EngineText.with(name) { JSObjectGetProperty(context, object, $0, nil) }
        guard let value, JSValueIsNumber(context, value) else { return 0 }
        return Int(JSValueToNumber(context, value, nil))
    }
}

/// A line of a source, in UTF-16 units; without what ends it.
private struct SourceLine {
    let range: Range<Int>

    /// The last line when there are not so many.
    init(of units: [UInt16], number: Int) {
        var start = 0
        var line = 1
        var index = 0
        while index < units.count {
            guard Self.endsLine(units[index]) else {
                index += 1
                continue
            }
            if line == number { break }
            // A carriage return and a line feed are one end.
            if units[index] == 13, index + 1 < units.count, units[index + 1] == 10 { index += 1 }
            index += 1
            line += 1
            start = index
        }
        range = start..<index
    }

    private static func endsLine(_ unit: UInt16) -> Bool {
        unit == 10 || unit == 13 || unit == 0x2028 || unit == 0x2029
    }

    private static func isOfName(_ unit: UInt16) -> Bool {
        (48...57).contains(unit) || (65...90).contains(unit) || (97...122).contains(unit)
            || unit == 36 || unit == 95 || unit >= 0x80
    }

    /// A name or a number as a whole, a literal from its quote on, or one mark.
    func start(ofTokenBefore end: Int, in units: [UInt16]) -> Int {
        guard end > range.lowerBound else { return range.lowerBound }
        var start = end - 1
        let last = units[start]
        if Self.isOfName(last) {
            while start > range.lowerBound, Self.isOfName(units[start - 1]) { start -= 1 }
        } else if last == 34 || last == 39 {
            while start > range.lowerBound, units[start - 1] != last { start -= 1 }
            if start > range.lowerBound { start -= 1 }
        }
        return start
    }
}
