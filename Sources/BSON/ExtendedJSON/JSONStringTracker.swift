/// Tells which bytes of JSON text stand in strings, for those who look for structure alone.
public struct JSONStringTracker: Sendable {
    private var inString = false
    private var escaped = false

    /// At the beginning of the text.
    public init() {}

    /// Takes the next byte: whether it belongs to a string that began before; its closing quotation mark does.
    public mutating func isInside(_ byte: UInt8) -> Bool {
        guard inString else {
            inString = byte == UInt8(ascii: "\"")
            return false
        }
        if escaped {
            escaped = false
        } else if byte == UInt8(ascii: "\\") {
            escaped = true
        } else if byte == UInt8(ascii: "\"") {
            inString = false
        }
        return true
    }
}
