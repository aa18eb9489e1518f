import Accounts
import BSON
import Errors
import MQL
import Postgres
import TestSupport
import Testing

@testable import Services

/// The tables of `reference/mql.md`, row by row, through PostgreSQL and through the evaluator.
///
/// What is expected is written from the document; both have to give it.
@Suite("The tables of mql.md")
struct ReferenceTableTests {
    /// One collection, into which each row puts documents of its own.
    private struct Table {
        let fixture: DataFixture

        func put(_ documents: [BSONDocument]) async throws {
            _ = try await fixture.perform("deleteMany", "Open", #"{"filter":{}}"#, as: .system)
            guard !documents.isEmpty else { return }
            let values = BSONValue.array(documents.map { .document($0) })
            let text = ExtendedJSON.canonical(.document(["documents": values]))
            _ = try await fixture.perform("insertMany", "Open", text, as: .system)
        }

        /// The answer's documents as relaxed Extended JSON, or MongoDB's code.
        func answer(_ action: String, _ members: String) async -> String {
            do throws(ServiceError) {
                let result = try await fixture.perform(action, "Open", members, as: .system)
                switch try result.operationResult() {
                case .documents(let documents): return ReferenceTableTests.text(documents)
                case .updated(let update): return "\(update.matched) \(update.modified)"
                default: return "?"
                }
            } catch { return ReferenceTableTests.code(error) }
        }

        func parsed(_ action: String, _ members: String) throws(ServiceError) -> DataAction {
            var body: BSONDocument = ["dataSource": "s", "database": "d", "collection": "c"]
            for field in try ExtendedJSON.readDocument(Array(members.utf8)) { body[field.key] = field.value }
            return try OperationParser.parse(action: action, body: body).action
        }
    }

    fileprivate static func text(_ documents: [BSONDocument]) -> String {
        documents.map { ExtendedJSON.relaxed(.document($0)) }.joined(separator: ",")
    }

    fileprivate static func code(_ error: ServiceError) -> String {
        "error \(error.serverCode?.number ?? 0)"
    }

    private static func documents(_ text: String) throws -> [BSONDocument] {
        try (ExtendedJSON.readValue(Array("[\(text)]".utf8)).array ?? []).compactMap(\.document)
    }

    private static let context = EvaluationContext(now: 1_700_000_000_123)

    /// Runs both, with the same description of an error.
    private static func evaluated(_ body: () throws(ServiceError) -> [BSONDocument]) -> String {
        do throws(ServiceError) { return text(try body()) } catch { return code(error) }
    }

    @Test("§§2, 3: what a filter matches")
    func filters() async throws {
        let table = Table(fixture: try await DataFixture())
        let rows = ReferenceTables.filters + ReferenceTables.furtherFilters + ReferenceTables.remainingFilters
        var documents: [BSONDocument] = []
        for (index, row) in rows.enumerated() {
            var document: BSONDocument = ["_id": .int32(Int32(index))]
            for field in try ExtendedJSON.readDocument(Array(row.document.utf8)) {
                document[field.key] = field.value
            }
            documents.append(document)
        }
        try await table.put(documents)
        for (index, row) in rows.enumerated() {
            let expected = row.matches ? "{\"_id\":\(index)}" : ""
            let members = #"{"filter":{"$and":[{"_id":\#(index)},\#(row.filter)]},"projection":{"_id":1}}"#
            #expect(await table.answer("find", members) == expected, "\(row)")
            guard case .find(let find) = try table.parsed("find", "{\"filter\":\(row.filter)}") else {
                continue
            }
            #expect(try find.filter.matches(documents[index], Self.context) == row.matches, "\(row)")
        }
        let refused =
            ReferenceTables.filterErrors + ReferenceTables.furtherFilterErrors
            + ReferenceTables.remainingFilterErrors
        for (filter, code) in refused {
            #expect(await table.answer("find", "{\"filter\":\(filter)}") == "error \(code)", "\(filter)")
        }
        await table.fixture.database.close()
    }

    @Test("§§4, 5: orders and projections")
    func finds() async throws {
        let table = Table(fixture: try await DataFixture())
        for row in ReferenceTables.finds + ReferenceTables.furtherFinds + ReferenceTables.remainingFinds {
            let documents = try Self.documents(row.documents)
            try await table.put(documents)
            #expect(await table.answer("find", row.members) == row.expected, "\(row)")
            guard case .find(let find)? = try? table.parsed("find", row.members) else { continue }
            let evaluated = Self.evaluated { () throws(ServiceError) in
                var found: [BSONDocument] = []
                for document in documents where try find.filter.matches(document, Self.context) {
                    found.append(document)
                }
                found = find.sort?.sorted(found) ?? found
                found = Array(found.dropFirst(find.skip).prefix(find.limit ?? .max))
                guard let projection = find.projection else { return found }
                var shown: [BSONDocument] = []
                for document in found {
                    shown.append(try projection.apply(document, filter: find.filter, Self.context))
                }
                return shown
            }
            #expect(evaluated == row.expected, "\(row)")
        }
        await table.fixture.database.close()
    }

    @Test("§6: updates")
    func updates() async throws {
        let table = Table(fixture: try await DataFixture())
        let rows =
            ReferenceTables.updates + ReferenceTables.furtherUpdates + ReferenceTables.remainingUpdates
        for row in rows {
            let documents = try Self.documents(row.documents)
            try await table.put(documents)
            let members =
                row.members.contains("\"filter\"") ? row.members : "{\"filter\":{},\(row.members.dropFirst())"
            let answer = await table.answer("updateOne", members)
            let after = answer.hasPrefix("error") ? answer : await table.answer("find", "{}")
            #expect(after == row.expected, "\(row)")
            guard case .updateOne(let update)? = try? table.parsed("updateOne", members) else { continue }
            let evaluated = Self.evaluated { () throws(ServiceError) in
                [
                    try update.update.apply(
                        to: documents[0],
                        filter: update.filter,
                        isUpsertInsert: false,
                        Self.context
                    )
                ]
            }
            #expect(evaluated == row.expected, "\(row)")
        }
        await table.fixture.database.close()
    }

    @Test("§6: what an upsert inserts")
    func upserts() async throws {
        let table = Table(fixture: try await DataFixture())
        for row in ReferenceTables.upserts {
            try await table.put([])
            let members = "\(row.members.dropLast()),\"upsert\":true}"
            let answer = await table.answer(row.action, members)
            let after = answer.hasPrefix("error") ? answer : await table.answer("find", "{}")
            #expect(after == row.expected, "\(row)")
            let arguments: UpdateArguments
            switch try? table.parsed(row.action, members) {
            case .updateOne(let update)?: arguments = update
            default: continue
            }
            let evaluated = Self.evaluated { () throws(ServiceError) in
                [
                    try arguments.update.upsertDocument(filter: arguments.filter, Self.context) {
                        ObjectID(seconds: 0, unique: 0)
                    }
                ]
            }
            #expect(evaluated == row.expected, "\(row)")
        }
        await table.fixture.database.close()
    }

    @Test("§§8, 9: stages, accumulators and expressions")
    func pipelines() async throws {
        let table = Table(fixture: try await DataFixture())
        let rows =
            ReferenceTables.pipelines + ReferenceTables.expressions + ReferenceTables.furtherPipelines
            + ReferenceTables.furtherExpressions + ReferenceTables.remainingPipelines
            + ReferenceTables.remainingExpressions
        for row in rows {
            let documents = try Self.documents(row.documents)
            try await table.put(documents)
            let members = "{\"pipeline\":\(row.members)}"
            #expect(await table.answer("aggregate", members) == row.expected, "\(row)")
            guard case .aggregate(let pipeline)? = try? table.parsed("aggregate", members),
                !pipeline.isForeign
            else { continue }
            let evaluated = Self.evaluated { () throws(ServiceError) in
                try pipeline.run(documents, Self.context)
            }
            #expect(evaluated == row.expected, "\(row)")
        }
        await table.fixture.database.close()
    }
}
