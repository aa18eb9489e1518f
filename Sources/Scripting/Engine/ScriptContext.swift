internal import BSON
internal import CJavaScript

/// A set of globals, with the runtime in it.
final class ScriptContext {
    let reference: JSGlobalContextRef?
    private let start: JSObjectRef?
    private let reply: JSObjectRef?
    private let fire: JSObjectRef?
    private let last: JSObjectRef?
    private let close: JSObjectRef?

    /// The runtime itself did not load: our fault.
    struct Broken: Error {
        let message: String
    }

    init(engine: ScriptEngine, natives: [(String, NativeFunction.Body)], limits: ScriptLimits) throws(Broken)
    {
        let context = JSGlobalContextCreateInGroup(engine.group, nil)
        reference = context
        let native = RuntimeNatives.object(natives, in: context)
        let facts = JSObjectMake(context, nil, nil)
        Self.set(context, facts, "queue", JSValueMakeNumber(context, Double(limits.queue)))
        Self.set(context, facts, "depth", JSValueMakeNumber(context, Double(limits.depth)))
        Self.set(context, native, "limits", facts)
        var exception: JSValueRef?
        var parts: [JSObjectRef?] = []
        let core = engine.evaluate("runtime:core", in: context, file: "tidegate:core", exception: &exception)
        {
            RuntimeFiles.text("core") ?? ""
        }
        if exception == nil, let made = Self.call(context, core, [native], &exception) {
            for name in ["start", "reply", "fire", "last", "close"] {
                let value = EngineText.with(name) { JSObjectGetProperty(context, made, $0, &exception) }
                parts.append(value)
            }
        }
        guard exception == nil, parts.count == 5 else {
            throw Broken(message: Self.describe(context, exception))
        }
        // Held by nothing else: the script cannot reach them.
        for part in parts { JSValueProtect(context, part) }
        start = parts[0]
        reply = parts[1]
        fire = parts[2]
        last = parts[3]
        close = parts[4]
    }

    deinit {
        for part in [start, reply, fire, last, close] where part != nil { JSValueUnprotect(reference, part) }
        JSGlobalContextRelease(reference)
    }

    /// Runs the entry's first stretch.
    ///
    /// Returns false when the engine ended it: what a script throws comes through a native function.
    func start(function: String, isEndpoint: Bool, arguments: [UInt8]) -> Bool {
        let name = EngineText.value(reference, function)
        let form = JSValueMakeBoolean(reference, isEndpoint)
        return call(start, [name, form, EngineText.value(reference, json: arguments)])
    }

    /// Hands over what a host call came to.
    func reply(call id: Int32, isAnswer: Bool, json: [UInt8]) -> Bool {
        let number = JSValueMakeNumber(reference, Double(id))
        let content = EngineText.value(reference, json: json)
        return call(reply, [number, JSValueMakeBoolean(reference, isAnswer), content])
    }

    /// Runs the callback of a timer; what it throws ends the run.
    func fire(timer: Int32) -> Bool {
        call(fire, [JSValueMakeNumber(reference, Double(timer))])
    }

    /// What the gateway needs besides the answer to the only host call under way, which ends the run; nil when it
    /// cannot be told.
    func last(isEndpoint: Bool) -> WireText? {
        var exception: JSValueRef?
        let form = JSValueMakeBoolean(reference, isEndpoint)
        guard let text = Self.call(reference, last, [form], &exception), exception == nil else { return nil }
        return EngineText.withUnits(reference, text) { WireText($0) }
    }

    /// Ends a call; whether all is as it was before, so that another call may follow.
    func endCall() -> Bool {
        var exception: JSValueRef?
        let answer = Self.call(reference, close, [], &exception)
        guard exception == nil, let answer else { return false }
        return JSValueIsStrictEqual(reference, answer, JSValueMakeBoolean(reference, true))
    }

    private func call(_ function: JSObjectRef?, _ arguments: [JSValueRef?]) -> Bool {
        var exception: JSValueRef?
        _ = Self.call(reference, function, arguments, &exception)
        return exception == nil
    }

    private static func call(
        _ context: JSContextRef?,
        _ function: JSValueRef?,
        _ arguments: [JSValueRef?],
        _ exception: inout JSValueRef?
    ) -> JSValueRef? {
        guard let function else { return nil }
        return JSObjectCallAsFunction(context, function, nil, arguments.count, arguments, &exception)
    }

    private static func set(
        _ context: JSContextRef?,
        _ object: JSObjectRef?,
        _ name: String,
        _ value: JSValueRef?
    ) {
        EngineText.with(name) { JSObjectSetProperty(context, object, $0, value, 0, nil) }
    }

    static func describe(_ context: JSContextRef?, _ exception: JSValueRef?) -> String {
        guard let exception, let text = JSValueToStringCopy(context, exception, nil) else { return "unknown" }
        defer { JSStringRelease(text) }
        let units = UnsafeBufferPointer(start: JSStringGetCharactersPtr(text), count: JSStringGetLength(text))
        return String(decoding: units, as: UTF16.self)
    }
}
