import BSON
import Errors
import MQL
import Postgres
import SQL
import TestSupport
import Testing

@testable import QueryCompiler

/// `MQL`'s evaluator says what a filter means; PostgreSQL has to agree.
@Suite("Filter → SQL, against the evaluator", .serialized)
struct FilterDifferentialTests {
    private struct Tally {
        var exact = 0
        var superset = 0
        var unknown = 0
    }

    private func compare(
        _ fixture: CollectionFixture,
        _ filter: Filter,
        _ source: FilterCompiler.Source,
        _ tally: inout Tally,
        trustsColumns: Bool = false
    ) async throws {
        let compiler = FilterCompiler(source: source, trustsColumns: trustsColumns)
        let condition = compiler.compile(filter)
        let found = try await fixture.keys(where: condition.fragment(on: compiler.document))
        let context = EvaluationContext(now: 0)
        var expected: Set<RowKey> = []
        for (key, document) in fixture.documents where try filter.matches(document, context) {
            expected.insert(key)
        }
        if condition.isExact {
            tally.exact += 1
            let wrong = found.symmetricDifference(expected)
            let example = wrong.first.flatMap { fixture.documents[$0] }
            #expect(
                wrong.isEmpty,
                "\(filter)\n\(example.map { ExtendedJSON.canonical(.document($0)) } ?? "") expected: \(wrong.first.map { expected.contains($0) } ?? false)\n\(condition)"
            )
        } else {
            if condition.terms.isEmpty { tally.unknown += 1 } else { tally.superset += 1 }
            let lost = expected.subtracting(found)
            let example = lost.first.flatMap { fixture.documents[$0] }
            #expect(
                lost.isEmpty,
                "\(filter)\n\(example.map { ExtendedJSON.canonical(.document($0)) } ?? "")\n\(condition)"
            )
        }
    }

    @Test("it decides exactly or narrows safely, on plain columns")
    func plain() async throws {
        var generator = GeneratedQueries(seed: 1)
        let fixture = try await CollectionFixture(generator.collection(250))
        var tally = Tally()
        for index in 0..<1500 {
            let filter = generator.filter()
            try await compare(
                fixture,
                filter,
                index.isMultiple(of: 3) ? .image("doc") : .rows(fixture.layout),
                &tally
            )
        }
        // The test would prove nothing if hardly anything were compiled.
        #expect(tally.exact > 300 && tally.superset > 300, "\(tally)")
        await fixture.database.close()
    }

    @Test("it decides exactly or narrows safely, on promoted columns")
    func promoted() async throws {
        var generator = GeneratedQueries(seed: 2)
        let fixture = try await CollectionFixture(
            generator.collection(250),
            promoted: [
                ("a", "string"), ("b", "number"), ("a", "number"), ("a.b", "string"), ("c", "date"),
                ("c", "objectId"),
                ("b", "uuid"), ("b.c", "bool"), ("c", "bool"), ("a.b", "number"),
            ]
        )
        var tally = Tally()
        for _ in 0..<1500 {
            try await compare(fixture, generator.filter(depth: 1), .rows(fixture.layout), &tally)
        }
        #expect(tally.exact > 300, "\(tally)")
        await fixture.database.close()
    }

    @Test("it decides exactly or narrows safely, on promoted columns that hold all values of their fields")
    func trusted() async throws {
        var generator = GeneratedQueries(seed: 4)
        let documents = generator.collection(250).map { document in
            var document = document
            for (key, type) in [("a", BSONType.string), ("b", .int32), ("c", .objectID)] {
                if let value = document[key], value.type != type, !value.isNull { document[key] = nil }
            }
            return document
        }
        let fixture = try await CollectionFixture(
            documents,
            promoted: [("a", "string"), ("b", "number"), ("c", "objectId")]
        )
        var tally = Tally()
        for _ in 0..<1500 {
            let filter = generator.filter(depth: 1)
            try await compare(fixture, filter, .rows(fixture.layout), &tally, trustsColumns: true)
        }
        #expect(tally.exact > 300, "\(tally)")
        let compiler = FilterCompiler(source: .rows(fixture.layout), trustsColumns: true)
        #expect(
            compiler.compile(try FilterParser.parse(["a": "a"])).others == [fixture.layout.promoted[0].rest]
        )
        await fixture.database.close()
    }

    @Test("it sorts as the evaluator does, or says that it cannot")
    func sorts() async throws {
        var generator = GeneratedQueries(seed: 3)
        let fixture = try await CollectionFixture(
            (0..<150).map { index in
                var document: BSONDocument = ["_id": .int32(Int32(index))]
                for key in ["a", "b"] where !generator.random.oneIn(5) {
                    document[key] =
                        generator.random.oneIn(4)
                        ? .array((0..<generator.random.below(3)).map { _ in generator.scalar() })
                        : generator.scalar()
                }
                return document
            }
        )
        var sorted = 0
        for _ in 0..<100 {
            let sort = generator.sort()
            guard let order = SortCompiler.compile(sort) else { continue }
            do throws(ServiceError) {
                let rows = try await fixture.database.run(
                    "SELECT _id FROM \(fixture.layout.table) ORDER BY \(order)"
                )
                let documents = (0..<rows.rowCount).compactMap {
                    rows.slice($0, 0).flatMap { fixture.documents[Array($0)] }
                }
                for (first, second) in zip(documents, documents.dropFirst())
                where sort.compare(first, second) > 0 {
                    Issue.record("\(sort)\n\(first)\n\(second)")
                }
                sorted += 1
            } catch {
                #expect(error.postgresFailure?.sqlState.code == SortFailure.sqlState, "\(error)")
            }
        }
        #expect(sorted > 5, "sorted \(sorted)")
        await fixture.database.close()
    }

    @Test("lists and filters at the limits of a request go through PostgreSQL")
    func atTheLimits() async throws {
        let limits = ParseLimits.standard
        let fixture = try await CollectionFixture(
            (0..<20).map { ["_id": .int32($0), "s": .string("x\($0)"), "n": .int32($0)] }
        )
        var tally = Tally()
        let count = Int32(limits.listMembers)
        let lists: [(String, [BSONValue])] = [
            ("s", (10..<10 + count).map { .string("x\($0)") }), ("n", (10..<10 + count).map { .int32($0) }),
            ("_id", (10..<10 + count).map { .int32($0) }),
            ("s", (0..<count).map { .double(Double($0) + 0.5) }),
        ]
        for (path, members) in lists {
            for name in ["$in", "$nin", "$all"] {
                let filter = try FilterParser.parse([path: [name: .array(members)]], limits: limits)
                try await compare(fixture, filter, .rows(fixture.layout), &tally)
            }
        }
        let conditions = (0..<Int32(limits.conditions)).map { index -> BSONValue in
            ["n": ["$gt": .double(Double(index) + 0.5)]]
        }
        for name in ["$and", "$or", "$nor"] {
            let filter = try FilterParser.parse([name: .array(conditions)], limits: limits)
            try await compare(fixture, filter, .rows(fixture.layout), &tally)
        }
        let structural = conditions.map { BSONValue.document(["s": $0]) }
        try await compare(
            fixture,
            try FilterParser.parse(["$or": .array(structural)], limits: limits),
            .rows(fixture.layout),
            &tally
        )
        var deep: BSONValue = ["n": 1]
        for index in 0..<Int32(90) { deep = ["$or": [["n": .int32(index)], deep]] }
        try await compare(
            fixture,
            try FilterParser.parse(deep.document ?? [:]),
            .rows(fixture.layout),
            &tally
        )
        for _ in 0..<4 { deep = ["$nor": [deep]] }
        try await compare(
            fixture,
            try FilterParser.parse(deep.document ?? [:]),
            .rows(fixture.layout),
            &tally
        )
    }
}
