internal import CJavaScript

/// The packages that an app brought, for `require.js`.
struct ModuleNatives {
    private unowned let run: ScriptRun

    init(_ run: ScriptRun) {
        self.run = run
    }

    private static let opening =
        "(function(exports,require,module,__filename,__dirname,Buffer,process,global){"

    var table: [(String, NativeFunction.Body)] {
        [
            (
                "hasModule",
                { [unowned run] (call) throws(NativeFault) in
                    call.make(run.bundle.modules[try call.text(0)] != nil)
                }
            ),
            (
                "moduleText",
                { [unowned run] (call) throws(NativeFault) in
                    run.bundle.modules[try call.text(0)].flatMap {
                        call.make(String(decoding: $0, as: UTF8.self))
                    }
                }
            ),
            (
                "compileModule",
                { [unowned run] (call) throws(NativeFault) in
                    let path = try call.text(0)
                    guard let bytes = run.bundle.modules[path] else { return nil }
                    let file = "node_modules/" + path
                    return try RuntimeNatives.evaluate(run, "app:" + file, file, call) {
                        var text = String(decoding: bytes, as: UTF8.self)
                        // A first line for shells; it must stay a line.
                        if text.hasPrefix("#!") { text = "//" + text }
                        return Self.opening + text + "\n})"
                    }
                }
            ),
        ]
    }
}
