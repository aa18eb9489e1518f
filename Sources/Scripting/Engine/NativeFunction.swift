internal import CJavaScript

/// Why a native function throws.
struct NativeFault: Error {
    /// Becomes the message of an `Error` in the script, unless `exception` is there.
    let message: String
    /// What the engine threw, to be thrown on.
    ///
    /// Used on the worker's main thread alone, where it was made, and before that returns to the engine.
    nonisolated(unsafe) let exception: JSValueRef?

    init(_ message: String) {
        self.message = message
        exception = nil
    }

    init(_ exception: JSValueRef) {
        message = ""
        self.exception = exception
    }
}

/// What a native function was called with.
struct NativeArguments {
    let context: JSContextRef?
    fileprivate let values: UnsafeBufferPointer<JSValueRef?>

    func value(_ index: Int) -> JSValueRef? { index < values.count ? values[index] : nil }

    func text(_ index: Int) throws(NativeFault) -> String {
        guard let text = EngineText.read(context, value(index)) else {
            throw NativeFault("a string is expected")
        }
        return text
    }

    func number(_ index: Int) throws(NativeFault) -> Double {
        guard let value = value(index), JSValueIsNumber(context, value) else {
            throw NativeFault("a number is expected")
        }
        return JSValueToNumber(context, value, nil)
    }

    func flag(_ index: Int) -> Bool { value(index).map { JSValueToBoolean(context, $0) } ?? false }

    func bytes(_ index: Int) throws(NativeFault) -> [UInt8] {
        guard let bytes = EngineBytes.read(context, value(index)) else {
            throw NativeFault("bytes are expected")
        }
        return bytes
    }

    func make(_ text: String) -> JSValueRef? { EngineText.value(context, text) }
    func make(_ number: Double) -> JSValueRef? { JSValueMakeNumber(context, number) }
    func make(_ flag: Bool) -> JSValueRef? { JSValueMakeBoolean(context, flag) }
    func make(_ bytes: [UInt8]) -> JSValueRef? { EngineBytes.value(context, bytes) }
}

/// A function of ours that the runtime's JavaScript calls.
///
/// The engine's object holds it retained, and lets go when it is collected.
final class NativeFunction {
    typealias Body = (NativeArguments) throws(NativeFault) -> JSValueRef?

    private let body: Body

    init(_ body: @escaping Body) {
        self.body = body
    }

    // A class of the engine is made once and never changed.
    nonisolated(unsafe) private static let engineClass: JSClassRef? = {
        var definition = kJSClassDefinitionEmpty
        definition.callAsFunction = { context, function, _, count, values, exception in
            guard let pointer = JSObjectGetPrivate(function) else { return nil }
            let native = Unmanaged<NativeFunction>.fromOpaque(pointer).takeUnretainedValue()
            let arguments = NativeArguments(
                context: context,
                values: UnsafeBufferPointer(start: values, count: count)
            )
            do throws(NativeFault) {
                return try native.body(arguments) ?? JSValueMakeUndefined(context)
            } catch {
                if let thrown = error.exception {
                    exception?.pointee = thrown
                    return nil
                }
                var message = EngineText.value(context, error.message)
                exception?.pointee = withUnsafePointer(to: &message) {
                    JSObjectMakeError(context, 1, $0, nil)
                }
                return nil
            }
        }
        definition.finalize = { object in
            guard let pointer = JSObjectGetPrivate(object) else { return }
            Unmanaged<NativeFunction>.fromOpaque(pointer).release()
        }
        return JSClassCreate(&definition)
    }()

    /// A new object of the engine that calls this function.
    func object(in context: JSContextRef?) -> JSObjectRef? {
        JSObjectMake(context, Self.engineClass, Unmanaged.passRetained(self).toOpaque())
    }
}
