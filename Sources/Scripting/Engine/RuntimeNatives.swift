internal import BSON
internal import CJavaScript

/// The functions that the runtime's JavaScript has of us; a script never gets hold of them.
struct RuntimeNatives {
    /// Owns the context, which owns these.
    private unowned let realm: ScriptRealm

    init(_ realm: ScriptRealm) {
        self.realm = realm
    }

    /// What every run needs.
    var table: [(String, NativeFunction.Body)] { running + keeping + loading + BytesNatives.table }

    /// What only some scripts need, by the name of the group.
    private func group(_ name: String) -> [(String, NativeFunction.Body)] {
        switch name {
        case "modules": ModuleNatives(realm).table
        case "crypto": CryptoNatives.table
        case "signatures": SignatureNatives.table
        case "tokens": TokenNatives.table
        case "zlib": ZlibNatives.table
        default: []
        }
    }

    /// An object of the engine with these functions.
    static func object(_ table: [(String, NativeFunction.Body)], in context: JSContextRef?) -> JSObjectRef? {
        let object = JSObjectMake(context, nil, nil)
        for (name, body) in table {
            let function = NativeFunction(body).object(in: context)
            EngineText.with(name) { JSObjectSetProperty(context, object, $0, function, 0, nil) }
        }
        return object
    }

    private var running: [(String, NativeFunction.Body)] {
        [
            (
                "call",
                { [unowned realm] (call) throws(NativeFault) in
                    let id = Int32(try call.number(0))
                    guard let run = realm.run else { throw NativeFault("no run is on") }
                    let asked = ScriptRun.Asked(
                        id: id,
                        name: try call.text(1),
                        arguments: try Self.wire(call, 2)
                    )
                    let function = run.request.function
                    if call.flag(3), let function, realm.bundle.endsWithAnswer(function) {
                        try run.keep(asked)
                    } else {
                        try run.hostCall(asked)
                    }
                    return nil
                }
            ),
            (
                "keep",
                { [unowned realm] (_) throws(NativeFault) in
                    try realm.run?.sendKept()
                    return nil
                }
            ),
            (
                "finished",
                { [unowned realm] (call) throws(NativeFault) in
                    realm.run?.finish(try Self.wire(call, 0))
                    return nil
                }
            ),
            (
                "failed",
                { [unowned realm] (call) throws(NativeFault) in
                    realm.run?.fail(try Self.value(call, 0))
                    return nil
                }
            ),
            (
                "log",
                { [unowned realm] (call) throws(NativeFault) in
                    realm.run?.record.log(try call.text(0))
                    return nil
                }
            ),
            (
                "timer",
                { [unowned realm] (call) throws(NativeFault) in
                    let milliseconds = min(try call.number(1), 1e12)
                    realm.run?.timers.set(Int32(try call.number(0)), due: .now + .milliseconds(milliseconds))
                    return nil
                }
            ),
            (
                "clearTimer",
                { [unowned realm] (call) throws(NativeFault) in
                    realm.run?.timers.clear(Int32(try call.number(0)))
                    return nil
                }
            ),
            (
                "isSystem",
                { [unowned realm] (call) throws(NativeFault) in
                    call.make(realm.run?.request.isSystem ?? false)
                }
            ),
            (
                "fact",
                { [unowned realm] (call) throws(NativeFault) in
                    Self.hand(json: try realm.fact(try call.text(0)), call)
                }
            ),
        ]
    }

    private var keeping: [(String, NativeFunction.Body)] {
        [
            ("isKept", { [unowned realm] (call) throws(NativeFault) in call.make(realm.isKept) }),
            (
                "mentions",
                { [unowned realm] (call) throws(NativeFault) in
                    call.make(realm.bundle.mentions(try call.text(0)))
                }
            ),
            (
                "isProven",
                { [unowned realm] (call) throws(NativeFault) in
                    let globals = try call.text(1)
                    return call.make(realm.bundle.isProven(try call.text(0), globals: globals))
                }
            ),
            (
                "learn",
                { [unowned realm] (call) throws(NativeFault) in
                    realm.bundle.learn(try call.text(0))
                    return nil
                }
            ),
        ]
    }

    private var loading: [(String, NativeFunction.Body)] {
        [
            (
                "load",
                { [unowned realm] (call) throws(NativeFault) in
                    let name = try call.text(0)
                    guard let text = RuntimeFiles.text(name) else { return nil }
                    return try Self.evaluate(realm, "runtime:" + name, "tidegate:" + name, call) { text }
                }
            ),
            (
                "compile",
                { [unowned realm] (call) throws(NativeFault) in
                    let name = try call.text(0)
                    let source = name.isEmpty ? realm.run?.request.source : realm.bundle.functions[name]
                    guard let source else { return nil }
                    let file = ScriptStack.folder + (name.isEmpty ? "source" : name) + ".js"
                    // A source without a name is another each time.
                    if name.isEmpty { realm.engine.forget("app:functions/source.js") }
                    do throws(NativeFault) {
                        return try Self.evaluate(realm, "app:" + file, file, call) {
                            ScriptStack.opening + source + ScriptStack.closing
                        }
                    } catch {
                        // The engine's words about the whole are of what stands around the source as well.
                        if let exception = error.exception,
                            let place = SyntaxCheck(engine: realm.engine).fault(of: source, file: file)
                        {
                            realm.run?.syntaxFault = (exception, place)
                        }
                        throw error
                    }
                }
            ),
            (
                "group",
                { [self] (call) throws(NativeFault) in
                    Self.object(group(try call.text(0)), in: call.context)
                }
            ),
            (
                "isSyntaxFault",
                { [unowned realm] (call) throws(NativeFault) in
                    let fault = realm.run?.syntaxFault?.error
                    return call.make(
                        fault.map { JSValueIsStrictEqual(call.context, $0, call.value(0)) } ?? false
                    )
                }
            ),
            (
                "parse",
                { (call) throws(NativeFault) in
                    var text = try call.text(0)
                    let value = text.withUTF8 { bytes in try? ExtendedJSON.readValue(Array(bytes)) }
                    guard let value else { throw NativeFault("invalid Extended JSON") }
                    return Self.hand(value, call)
                }
            ),
            (
                "ejson",
                { (call) throws(NativeFault) in
                    let value = try Self.value(call, 0)
                    return call.make(
                        call.flag(1) ? ExtendedJSON.relaxed(value) : ExtendedJSON.canonical(value)
                    )
                }
            ),
        ]
    }

    /// A value that `wire.js` wrote.
    static func value(_ call: NativeArguments, _ index: Int) throws(NativeFault) -> BSONValue {
        let value = EngineText.withUnits(call.context, call.value(index)) { units in
            try? ScriptTextReader.read(units)
        }
        guard let value, let value else { throw NativeFault("the value cannot be read") }
        return value
    }

    /// What `wire.js` wrote, for the gateway to read.
    static func wire(_ call: NativeArguments, _ index: Int) throws(NativeFault) -> WireText {
        let text = EngineText.withUnits(call.context, call.value(index)) { WireText($0) }
        guard let text else { throw NativeFault("the value cannot be read") }
        return text
    }

    /// A value for the runtime's `revive`.
    static func hand(_ value: BSONValue, _ call: NativeArguments) -> JSValueRef? {
        hand(json: ScriptJSONWriter.write(value), call)
    }

    /// The same of what ``ScriptJSONWriter`` wrote.
    static func hand(json: [UInt8], _ call: NativeArguments) -> JSValueRef? {
        EngineText.value(call.context, json: json)
    }

    /// Evaluates a file; an exception of the engine goes on to whoever called.
    static func evaluate(
        _ realm: ScriptRealm,
        _ key: String,
        _ file: String,
        _ call: NativeArguments,
        _ text: () -> String
    ) throws(NativeFault) -> JSValueRef? {
        var exception: JSValueRef?
        let value = realm.engine.evaluate(
            key,
            in: call.context,
            file: file,
            exception: &exception,
            text: text
        )
        guard let exception else { return value }
        throw NativeFault(exception)
    }
}
