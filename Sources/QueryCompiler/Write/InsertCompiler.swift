public import SQL

/// A document on its way into a table.
public struct NewRow: Sendable {
    /// The typed key of `_id`.
    public let key: String
    /// The stored form.
    public let document: [UInt8]
    /// The order of its keys, by its id in `tidegate.shapes`; 0 names none.
    public let shape: Int32

    /// Made of its parts.
    public init(key: String, document: [UInt8], shape: Int32) {
        self.key = key
        self.document = document
        self.shape = shape
    }
}

extension QueryCompiler {
    /// A view has no key that a conflict could be about: there the relation's own key refuses.
    private var onConflict: SQLFragment { layout.isMapped ? "" : " ON CONFLICT (_id) DO NOTHING" }

    /// Inserts one document; no row changed, or a unique violation, means that the key is there already.
    public func insert(_ row: NewRow) -> SQLFragment {
        """
        INSERT INTO \(layout.table) (_id, doc, shape) \
        VALUES (\(bind: .text(row.key)), \(bind: .jsonb(row.document)), \(bind: .int4(row.shape)))\(onConflict)
        """
    }

    /// Inserts documents in order, up to the first whose key is there already.
    ///
    /// The answer is one row: how many were inserted. A writer that comes between looking and inserting makes
    /// the statement fail with a unique violation; run again, it sees that writer's document. The keys have to
    /// differ among themselves.
    public func insert(_ rows: [NewRow]) -> SQLFragment {
        """
        WITH input AS MATERIALIZED (
            SELECT * FROM unnest(\(bind: .textArray(rows.map(\.key))), \(bind: .jsonbArray(rows.map(\.document))), \
        \(bind: .int4Array(rows.map(\.shape)))) WITH ORDINALITY AS row (key, doc, shape, place)), \
        stop AS (SELECT min(place) AS place FROM input WHERE EXISTS (SELECT FROM \(layout.table) t WHERE t._id = input.key)), \
        done AS (
            INSERT INTO \(layout.table) (_id, doc, shape)
            SELECT key, doc, shape FROM input
            WHERE (SELECT stop.place FROM stop) IS NULL OR place < (SELECT stop.place FROM stop) ORDER BY place
            RETURNING 1)
        SELECT count(*) FROM done
        """
    }

    /// Inserts the documents whose keys are not there; the answer is their keys.
    ///
    /// It may fail with a unique violation.
    public func insertUnordered(_ rows: [NewRow]) -> SQLFragment {
        """
        INSERT INTO \(layout.table) (_id, doc, shape) \
        SELECT key, doc, shape FROM unnest(\(bind: .textArray(rows.map(\.key))), \
        \(bind: .jsonbArray(rows.map(\.document))), \(bind: .int4Array(rows.map(\.shape)))) \
        WITH ORDINALITY AS row (key, doc, shape, place) ORDER BY place\(onConflict) RETURNING _id
        """
    }
}
