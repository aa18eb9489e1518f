import CLibpq
import Errors
import SQL

/// One result of libpq, freed with the last reference.
///
/// `@unchecked Sendable`: libpq does not touch a result after handing it out, and nothing here changes it. It
/// travels from the thread that read it to the task that asked, which does the copying.
final class WireResult: @unchecked Sendable {
    private let handle: OpaquePointer

    /// Takes over a result.
    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        PQclear(handle)
    }

    /// Copies all rows into one buffer.
    ///
    /// - Throws: `readSizeLimitExceeded` for more than 2 GB.
    func rows() throws(ServiceError) -> ResultSet {
        let columnCount = PQnfields(handle)
        let rowCount = columnCount == 0 ? 0 : PQntuples(handle)
        var columns: [String] = []
        columns.reserveCapacity(Int(columnCount))
        for column in 0..<columnCount {
            columns.append(PQfname(handle, column).map { String(cString: $0) } ?? "")
        }
        var cells: [ResultSet.Cell] = []
        cells.reserveCapacity(Int(rowCount) * Int(columnCount))
        var total = 0
        for row in 0..<rowCount {
            for column in 0..<columnCount {
                let length = PQgetlength(handle, row, column)
                let isNull = length == 0 && PQgetisnull(handle, row, column) == 1
                cells.append(
                    ResultSet.Cell(start: Int32(truncatingIfNeeded: total), length: isNull ? -1 : length)
                )
                total += Int(length)
            }
        }
        guard total <= Int(Int32.max) else {
            throw ServiceError(.readSizeLimitExceeded, "the result is larger than 2 GB")
        }
        guard total > 0 else {
            return ResultSet(columns: columns, bytes: [], cells: cells, affectedRows: affectedRows)
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: total) { buffer, filled in
            var cell = 0
            for row in 0..<rowCount {
                for column in 0..<columnCount {
                    let length = Int(cells[cell].length)
                    if length > 0, let source = PQgetvalue(handle, row, column), let base = buffer.baseAddress
                    {
                        UnsafeMutableRawPointer(base + Int(cells[cell].start))
                            .copyMemory(from: source, byteCount: length)
                    }
                    cell += 1
                }
            }
            filled = total
        }
        return ResultSet(columns: columns, bytes: bytes, cells: cells, affectedRows: affectedRows)
    }

    /// What the server says it did (`COMMIT`, `UPDATE 3`).
    var commandTag: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    /// The count in the command tag (`UPDATE 3`), 0 where it has none.
    private var affectedRows: Int {
        guard let digits = PQcmdTuples(handle) else { return 0 }
        var count = 0
        var index = 0
        while digits[index] != 0 {
            count = count &* 10 &+ Int(digits[index] &- 48)
            index += 1
        }
        return count
    }

    /// The error that this result reports, or nil when it is none.
    var failure: PostgresFailure? {
        let status = PQresultStatus(handle)
        guard status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE else { return nil }
        func field(_ code: Unicode.Scalar) -> String? {
            PQresultErrorField(handle, Int32(code.value)).map { String(cString: $0) }
        }
        return PostgresFailure(
            sqlState: field("C").map(SQLState.init) ?? .connectionFailure,
            message: field("M") ?? PQresultErrorMessage(handle).map { String(cString: $0) } ?? "",
            detail: field("D"),
            hint: field("H"),
            constraint: field("n"),
            schema: field("s"),
            table: field("t"),
            column: field("c"),
            routine: field("R")
        )
    }
}
