/// The rows of one statement, as text columns in one buffer.
public struct ResultSet: Sendable {
    /// Where a column lies in ``bytes``; a negative length is SQL NULL.
    public struct Cell: Sendable {
        /// Offset of the first byte.
        public var start: Int32
        /// Number of bytes; negative for NULL.
        public var length: Int32

        /// A stretch of the buffer.
        public init(start: Int32, length: Int32) {
            self.start = start
            self.length = length
        }
    }

    /// The columns' names, in order.
    public let columns: [String]
    /// Every value, one after the other.
    public let bytes: [UInt8]
    /// Row by row, `columns.count` cells each.
    public let cells: [Cell]
    /// The command tag's count: rows changed, or rows returned.
    public let affectedRows: Int

    /// Rows put together by whoever read them; `cells` must lie within `bytes`.
    public init(columns: [String], bytes: [UInt8], cells: [Cell], affectedRows: Int) {
        self.columns = columns
        self.bytes = bytes
        self.cells = cells
        self.affectedRows = affectedRows
    }

    /// How many rows there are.
    public var rowCount: Int { columns.isEmpty ? 0 : cells.count / columns.count }

    /// The raw text of a cell, or nil for NULL.
    public func slice(_ row: Int, _ column: Int) -> ArraySlice<UInt8>? {
        let cell = cells[row * columns.count + column]
        guard cell.length >= 0 else { return nil }
        return bytes[Int(cell.start)..<Int(cell.start) + Int(cell.length)]
    }

    /// A cell as a string, or nil for NULL.
    public func text(_ row: Int, _ column: Int) -> String? {
        slice(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A cell as a whole number; nil for NULL and for anything else.
    public func int(_ row: Int, _ column: Int) -> Int? {
        text(row, column).flatMap { Int($0) }
    }

    /// PostgreSQL writes `t` and `f`.
    public func bool(_ row: Int, _ column: Int) -> Bool? {
        slice(row, column).map { $0.first == UInt8(ascii: "t") }
    }
}
