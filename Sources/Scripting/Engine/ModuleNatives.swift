internal import CJavaScript

/// The packages that an app brought, for `require.js`.
struct ModuleNatives {
    private unowned let realm: ScriptRealm

    init(_ realm: ScriptRealm) {
        self.realm = realm
    }

    private static let opening =
        "(function(exports,require,module,__filename,__dirname,Buffer,process,global){"

    var table: [(String, NativeFunction.Body)] {
        [
            (
                "hasModule",
                { [unowned realm] (call) throws(NativeFault) in
                    call.make(realm.bundle.modules[try call.text(0)] != nil)
                }
            ),
            (
                "moduleText",
                { [unowned realm] (call) throws(NativeFault) in
                    realm.bundle.modules[try call.text(0)].flatMap {
                        call.make(String(decoding: $0, as: UTF8.self))
                    }
                }
            ),
            (
                "compileModule",
                { [unowned realm] (call) throws(NativeFault) in
                    let path = try call.text(0)
                    guard let bytes = realm.bundle.modules[path] else { return nil }
                    let file = "node_modules/" + path
                    return try RuntimeNatives.evaluate(realm, "app:" + file, file, call) {
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
