import BSON
import Errors
import MQL
import Postgres
import Rules
import SQL
import TestSupport
import Testing

@testable import QueryCompiler

@Suite("Update → SQL, against the evaluator", .serialized)
struct UpdateDifferentialTests {
    private static let now: Int64 = 1_700_000_000_123
    private static let filter = Filter.field("_id", .compare(.equal, "target"))

    /// One row as it is now.
    private struct Row {
        let bytes: [UInt8]
        let shape: Int32
        let order: DocumentShape?

        func document() throws -> BSONDocument { try StoredForm.read(bytes, shape: order) }
    }

    private func row(_ fixture: CollectionFixture) async throws -> Row {
        let rows = try await fixture.run(
            """
            SELECT t.doc, t.shape, s.order_text FROM \(fixture.layout.table) t \
            LEFT JOIN tidegate.shapes s ON s.collection_id = \(bind: .int4(fixture.layout.id)) AND s.id = t.shape
            """
        )
        return Row(
            bytes: Array(rows.slice(0, 0) ?? []),
            shape: Int32(rows.int(0, 1) ?? -1),
            order: try rows.text(0, 2).map { try DocumentShape(text: $0) }
        )
    }

    /// Records the steps that an update takes from a row, as the service does after computing it itself.
    private func learn(_ update: Update, _ row: Row, _ fixture: CollectionFixture) async throws {
        var shape = row.order
        var id = row.shape
        for step in UpdateSteps(update, now: Self.now).taken(on: try row.document()) {
            guard let known = shape, id > 0, let next = step.successor(of: known) else { return }
            let rows = try await fixture.run(
                """
                SELECT tidegate.learn_step(\(bind: .int4(fixture.layout.id)), \(bind: .int4(id)), \
                \(bind: .text(step.text)), \(bind: .text(next.text)))
                """
            )
            id = Int32(rows.int(0, 0) ?? 0)
            shape = next
        }
    }

    @Test("it changes documents as the evaluator does, key order and number types included, or leaves them")
    func agrees() async throws {
        var generator = GeneratedQueries(seed: 11)
        let fixture = try await CollectionFixture([["_id": "target"]])
        let context = EvaluationContext(now: Self.now)
        let compiler = QueryCompiler(layout: fixture.layout, plan: .system)
        var decided = 0
        var left = 0
        var directly = 0
        for _ in 0..<600 {
            let document = generator.target()
            let update = generator.update()
            guard
                let statement = compiler.update(
                    UpdateArguments(filter: Self.filter, update: update),
                    many: false,
                    now: Self.now
                )
            else { continue }
            var bytes: [UInt8] = []
            try StoredForm.write(document, to: &bytes)
            let shape = try await CollectionFixture.shape(of: document, fixture.layout, fixture.database)
            _ = try await fixture.run(
                "UPDATE \(fixture.layout.table) SET doc = \(bind: .jsonb(bytes)), shape = \(bind: .int4(shape))"
            )
            try await learn(update, row(fixture), fixture)
            // The light statement writes all or nothing; where it wrote, it has to be right as well.
            if let direct = statement.direct, try await fixture.run(direct).affectedRows > 0 {
                directly += 1
                let expected = try update.apply(
                    to: document,
                    filter: Self.filter,
                    isUpsertInsert: false,
                    context
                )
                let after = try await row(fixture).document()
                #expect(after == expected && after != document, "\(document)\n\(update)")
                continue
            }
            #expect(try await row(fixture).document() == document)
            let answer = try await fixture.run(statement.statement)
            let after = try await row(fixture).document()
            #expect(answer.int(0, 0) == 1 && answer.int(0, 2) == 0)
            do throws(ServiceError) {
                let expected = try update.apply(
                    to: document,
                    filter: Self.filter,
                    isUpsertInsert: false,
                    context
                )
                if answer.int(0, 1) == 0 {
                    decided += 1
                    #expect(after == expected, "\(ExtendedJSON.canonical(.document(document)))\n\(update)")
                    let isChanged = expected != document
                    #expect((answer.int(0, 3) == 1) == isChanged, "\(document)\n\(update)")
                } else {
                    left += 1
                    #expect(after == document)
                }
            } catch {
                #expect(answer.int(0, 1) == 1, "\(error) expected\n\(document)\n\(update)")
                #expect(after == document)
            }
        }
        #expect(decided > 100 && directly > 50, "decided \(decided), directly \(directly), left \(left)")
        await fixture.database.close()
    }

    @Test("it needs one statement for the common operators once their steps are known")
    func common() async throws {
        let fixture = try await CollectionFixture([["_id": "target", "n": 1, "tags": ["a"], "sub": ["x": 1]]])
        let compiler = QueryCompiler(layout: fixture.layout, plan: .system)
        let update = try UpdateParser.parse(
            [
                "$set": ["status": "done", "sub.y": 2], "$inc": ["n": 1], "$push": ["tags": "b"],
                "$min": ["low": 3], "$unset": ["gone": ""], "$currentDate": ["at": true],
            ],
            arrayFilters: [],
            multi: false
        )
        try await learn(update, row(fixture), fixture)
        let statement = try #require(
            compiler.update(UpdateArguments(filter: Self.filter, update: update), many: false, now: Self.now)
        )
        let answer = try await fixture.run(statement.statement)
        #expect((0..<4).map { answer.int(0, $0) } == [1, 0, 0, 1])
        let after = try await row(fixture).document()
        #expect(
            ExtendedJSON.relaxed(.document(after)).hasPrefix(
                #"{"_id":"target","n":2,"tags":["a","b"],"sub":{"x":1,"y":2},"at":"#
            ),
            "\(after)"
        )
        #expect(after.keys == ["_id", "n", "tags", "sub", "at", "low", "status"])
        await fixture.database.close()
    }
}
