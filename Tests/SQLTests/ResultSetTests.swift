import SQL
import Testing

@Suite("Result sets")
struct ResultSetTests {
    private let rows = ResultSet(
        columns: ["a", "b"],
        bytes: Array("12tx".utf8),
        cells: [
            .init(start: 0, length: 2), .init(start: 2, length: 1), .init(start: 3, length: 1),
            .init(start: 4, length: -1),
        ],
        affectedRows: 2
    )

    @Test("reads cells by row and column")
    func readsCells() {
        #expect(rows.rowCount == 2)
        #expect(rows.int(0, 0) == 12)
        #expect(rows.bool(0, 1) == true)
        #expect(rows.text(1, 0) == "x")
        #expect(rows.slice(1, 0).map(Array.init) == [UInt8(ascii: "x")])
    }

    @Test("tells NULL from text, and text from numbers")
    func tellsNull() {
        #expect(rows.text(1, 1) == nil)
        #expect(rows.bool(1, 1) == nil)
        #expect(rows.int(1, 0) == nil)
    }

    @Test("has no rows without columns")
    func hasNoRows() {
        #expect(ResultSet(columns: [], bytes: [], cells: [], affectedRows: 7).rowCount == 0)
    }
}
