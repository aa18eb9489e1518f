import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

// Results of any size, of which a page at a time is held.
extension DataCall {
    /// How many rows one statement may bring before a cursor is opened.
    private static let firstRows = 2000
    /// Rows of so many bytes are fetched few at a time.
    private static let largeRow = 65_536
    /// Nobody names a cursor so in a transaction of one statement.
    private static let ownCursor: SQLFragment = "tidegate_rows"

    /// Hands documents to `take` until it says no.
    ///
    /// Most results are small and come in one statement; larger ones through a cursor, so that no more than a
    /// page of rows is held.
    func stream(
        _ statement: SQLFragment,
        _ layout: CollectionLayout,
        _ take: (BSONDocument, Int) throws(ServiceError) -> Bool
    ) async throws(ServiceError) {
        var hasLargeRows = false
        do {
            let first = try await run(
                "SELECT * FROM (\(statement)) AS input LIMIT \(bind: .int(Int64(Self.firstRows)))",
                isPoint: false
            )
            if first.rowCount < Self.firstRows {
                _ = try await deliver(first, layout, take)
                return
            }
            hasLargeRows = first.bytes.count > Self.firstRows * Self.largeRow
        } catch  where error.code == .readSizeLimitExceeded {
            // Of an enclosing transaction nothing is left to go on with.
            guard enclosing == nil else { throw error }
            hasLargeRows = true
        }
        let begin = hasLargeRows ? PageSize.few : .many
        do {
            if let enclosing {
                // What it wrote is a part of the result.
                try await pages(statement, enclosing.transaction, enclosing.newCursor(), from: begin) {
                    page in
                    try await deliver(page, layout, take)
                }
                return
            }
            try await service.database.transaction(deadline: deadline) { transaction in
                try await pages(statement, transaction, Self.ownCursor, from: begin) { page in
                    try await deliver(page, layout, take)
                }
            }
        } catch let error as ServiceError {
            throw error
        } catch {
            throw ServiceError(.internalServerError, "reading was interrupted", cause: error)
        }
    }

    private func deliver(
        _ rows: ResultSet,
        _ layout: CollectionLayout,
        _ take: (BSONDocument, Int) throws(ServiceError) -> Bool
    ) async throws(ServiceError) -> Bool {
        let shapes = try await service.shapes.shapes(of: rows, collection: layout.id, deadline: deadline)
        if plan.answers != nil {
            // Whoever takes them decides at once: what rules ask of functions is answered before.
            try await deciding { () throws(ServiceError) in
                for row in 0..<rows.rowCount {
                    let (text, shape) = StoredRow.parts(rows, row)
                    _ = plan.visible(try StoredForm.read(text, shape: shapes[shape]))
                }
            }
        }
        for row in 0..<rows.rowCount {
            let (text, shape) = StoredRow.parts(rows, row)
            var document = try StoredForm.read(text, shape: shapes[shape])
            StoredRow.score(rows, row).map { TextScore.set($0, in: &document) }
            if try !take(document, text.count) { return false }
        }
        return true
    }
}

// MARK: Cursors

extension DataCall {
    /// How many rows are fetched at a time.
    private enum PageSize {
        case few
        case some
        case many

        func fetch(_ cursor: SQLFragment) -> SQLFragment {
            switch self {
            case .few: "FETCH FORWARD 10 FROM \(cursor)"
            case .some: "FETCH FORWARD 100 FROM \(cursor)"
            case .many: "FETCH FORWARD 1000 FROM \(cursor)"
            }
        }

        /// For rows like those of a page.
        static func after(_ page: ResultSet) -> PageSize {
            switch page.bytes.count / max(1, page.rowCount) {
            case ...(largeRow / 16): .many
            case ...largeRow: .some
            default: .few
            }
        }
    }

    /// Hands out the pages of a cursor until there are no more or `take` says no.
    ///
    /// - Parameters:
    ///   - statement: What is read.
    ///   - transaction: In which the cursor lives.
    ///   - cursor: Its name.
    ///   - begin: How much is fetched first.
    ///   - isAhead: Whether the next page is fetched while one is taken.
    ///   - take: Takes a page.
    /// - Throws: ``ServiceError``, and what `take` throws.
    private func pages(
        _ statement: SQLFragment,
        _ transaction: Transaction,
        _ cursor: SQLFragment,
        from begin: PageSize,
        isAhead: Bool = false,
        _ take: (ResultSet) async throws -> Bool
    ) async throws {
        _ = try await transaction.run("DECLARE \(cursor) NO SCROLL CURSOR FOR \(statement)")
        var page = try await transaction.run(begin.fetch(cursor))
        while page.rowCount > 0 {
            let size = PageSize.after(page)
            if isAhead {
                async let next = transaction.run(size.fetch(cursor))
                guard try await take(page) else { break }
                page = try await next
            } else {
                guard try await take(page) else { break }
                page = try await transaction.run(size.fetch(cursor))
            }
        }
        _ = try await transaction.run("CLOSE \(cursor)")
    }

    /// Hands out all documents that match and that the caller may see, a page at a time, in any order unless told.
    ///
    /// Inside of a transaction, which serves nothing else meanwhile: the next page is fetched while one is taken.
    func each(_ filter: Filter, _ order: Sort?, _ take: ([BSONDocument]) async throws -> Void) async throws {
        let narrowing: Filter
        let isOnVisible: Bool
        switch try plan.scope(of: filter, sort: order) {
        case .stored: (narrowing, isOnVisible) = (filter, false)
        case .visible(let within): (narrowing, isOnVisible) = (within, true)
        }
        guard let layout = try await layout(), let enclosing else { return }
        let read = compiler(layout).find(FindArguments(filter: narrowing, sort: order))
        let context = evaluation()
        // All rows are wanted, not the first ones soon; of an order perhaps these alone.
        let share: SQLFragment = order == nil ? "1" : "0.1"
        _ = try await enclosing.transaction.run("SET LOCAL cursor_tuple_fraction = \(share)", plan: .generic)
        try await pages(
            read.statement(),
            enclosing.transaction,
            enclosing.newCursor(),
            from: .few,
            isAhead: plan.answers == nil
        ) { rows in
            let shapes = try await service.shapes.shapes(of: rows, collection: layout.id, deadline: deadline)
            let documents = try await deciding { () throws(ServiceError) -> [BSONDocument] in
                try shown(rows, shapes, filter, read, isOnVisible: isOnVisible, context)
            }
            try await take(documents)
            return true
        }
    }

    private func shown(
        _ rows: ResultSet,
        _ shapes: [Int32: DocumentShape],
        _ filter: Filter,
        _ read: FindStatement,
        isOnVisible: Bool,
        _ context: EvaluationContext
    ) throws(ServiceError) -> [BSONDocument] {
        var found: [BSONDocument] = []
        found.reserveCapacity(rows.rowCount)
        for row in 0..<rows.rowCount {
            let (text, shape) = StoredRow.parts(rows, row)
            let document = try StoredForm.read(text, shape: shapes[shape])
            // Rules first: an error of the filter must not tell of documents that rules keep from the caller.
            if !read.decidesMatch { guard try passesRules(document, context) else { continue } }
            if isOnVisible {
                guard let seen = try seen(document, context), try filter.matches(seen, context) else {
                    continue
                }
                found.append(seen)
            } else {
                guard let seen = plan.visible(document) else { continue }
                if !read.decidesMatch { guard try filter.matches(document, context) else { continue } }
                found.append(try project(seen, FindArguments(filter: filter), context))
            }
        }
        return found
    }
}
