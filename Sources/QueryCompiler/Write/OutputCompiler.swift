public import SQL

extension QueryCompiler {
    /// Removes every document, for the transaction of a `$out`.
    ///
    /// The lock keeps other writers out until the new documents are there; readers go on with the old ones.
    public func emptying() -> [SQLFragment] {
        ["LOCK TABLE \(layout.table) IN SHARE ROW EXCLUSIVE MODE", "DELETE FROM \(layout.table)"]
    }
}
