internal import CJavaScript

/// Text in and out of the engine.
enum EngineText {
    /// Runs a body with a text as the engine's own.
    static func with<Value>(_ text: String, _ body: (JSStringRef?) throws -> Value) rethrows -> Value {
        let string = make(text)
        defer { JSStringRelease(string) }
        return try body(string)
    }

    /// A text that the caller releases; NUL inside is kept.
    static func make(_ text: String) -> JSStringRef? {
        let units = Array(text.utf16)
        return units.withUnsafeBufferPointer { JSStringCreateWithCharacters($0.baseAddress, $0.count) }
    }

    /// A string value, or nil when the value is none.
    static func read(_ context: JSContextRef?, _ value: JSValueRef?) -> String? {
        guard let value, JSValueIsString(context, value) else { return nil }
        return withUnits(context, value) { text($0) }
    }

    /// Runs a body with the UTF-16 units of a string value; nil when the value is none.
    static func withUnits<Value>(
        _ context: JSContextRef?,
        _ value: JSValueRef?,
        _ body: (UnsafeBufferPointer<UInt16>) throws -> Value
    ) rethrows -> Value? {
        guard let value, JSValueIsString(context, value),
            let string = JSValueToStringCopy(context, value, nil)
        else { return nil }
        defer { JSStringRelease(string) }
        let length = JSStringGetLength(string)
        return try body(UnsafeBufferPointer(start: JSStringGetCharactersPtr(string), count: length))
    }

    /// The text of UTF-16 units; most are of ASCII alone, which needs no decoding.
    static func text(_ units: UnsafeBufferPointer<UInt16>) -> String {
        guard units.allSatisfy({ $0 < 0x80 }) else { return String(decoding: units, as: UTF16.self) }
        return String(unsafeUninitializedCapacity: units.count) { bytes in
            for index in units.indices { bytes[index] = UInt8(truncatingIfNeeded: units[index]) }
            return units.count
        }
    }

    /// What a JSON text says; its last byte is zero, and it holds no other.
    static func value(_ context: JSContextRef?, json: [UInt8]) -> JSValueRef? {
        guard json.last == 0 else { return JSValueMakeUndefined(context) }
        return json.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                let string = JSStringCreateWithUTF8CString(characters.baseAddress)
                defer { JSStringRelease(string) }
                return JSValueMakeFromJSONString(context, string)
            }
        }
    }

    static func value(_ context: JSContextRef?, _ text: String) -> JSValueRef? {
        with(text) { JSValueMakeString(context, $0) }
    }
}

/// Bytes in and out of the engine, as `Uint8Array`.
enum EngineBytes {
    /// A copy of what a typed array shows; nil when the value is none.
    static func read(_ context: JSContextRef?, _ value: JSValueRef?) -> [UInt8]? {
        guard let value, JSValueGetTypedArrayType(context, value, nil) == kJSTypedArrayTypeUint8Array,
            let object = JSValueToObject(context, value, nil)
        else { return nil }
        let count = JSObjectGetTypedArrayByteLength(context, object, nil)
        guard count > 0 else { return [] }
        // The pointer is that of the whole buffer.
        guard let start = JSObjectGetTypedArrayBytesPtr(context, object, nil) else { return nil }
        let offset = JSObjectGetTypedArrayByteOffset(context, object, nil)
        return Array(UnsafeRawBufferPointer(start: start + offset, count: count))
    }

    static func value(_ context: JSContextRef?, _ bytes: [UInt8]) -> JSValueRef? {
        guard let array = JSObjectMakeTypedArray(context, kJSTypedArrayTypeUint8Array, bytes.count, nil),
            bytes.isEmpty == false
        else { return JSObjectMakeTypedArray(context, kJSTypedArrayTypeUint8Array, bytes.count, nil) }
        guard let start = JSObjectGetTypedArrayBytesPtr(context, array, nil) else { return nil }
        bytes.withUnsafeBytes {
            start.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(start), byteCount: $0.count)
        }
        return array
    }
}
