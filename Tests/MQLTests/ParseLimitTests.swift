import BSON
import Errors
import MQL
import Testing

@Suite("Limits of a parse")
struct ParseLimitTests {
    private func error(_ action: String, _ members: BSONDocument, _ limits: ParseLimits) -> ServiceError? {
        var body: BSONDocument = ["dataSource": "d", "database": "db", "collection": "c"]
        for field in members { body.append(field.key, field.value) }
        do throws(ServiceError) {
            _ = try OperationParser.parse(action: action, body: body, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test("count the tests of all filters of an operation together")
    func together() {
        let limits = ParseLimits(conditions: 4)
        let two: BSONValue = ["a": 1, "b": ["$gt": 1]]
        #expect(error("aggregate", ["pipeline": [["$match": two], ["$match": two]]], limits) == nil)
        let past = error(
            "aggregate",
            ["pipeline": [["$match": two], ["$match": two], ["$match": ["c": 1]]]],
            limits
        )
        #expect(past?.code == .invalidParameter)
        #expect(past?.details["limit"] == "max-conditions")
        #expect(past?.details["pipeline"] == "more than 4 conditions")
        let update = error(
            "updateMany",
            [
                "filter": two, "update": ["$set": ["x.$[e]": 1], "$pull": ["y": ["$gt": 1, "$lt": 5]]],
                "arrayFilters": [["e": 1]],
            ],
            limits
        )
        #expect(update?.details["limit"] == "max-conditions")
    }

    @Test("count objects and patterns in lists as conditions, since each becomes one")
    func members() {
        let limits = ParseLimits(conditions: 4, listMembers: 100)
        let scalars: BSONValue = ["a": ["$in": .array((0..<100).map { .int32($0) })]]
        #expect(error("find", ["filter": scalars], limits) == nil)
        let documents: BSONValue = ["a": ["$in": .array((0..<4).map { ["n": .int32($0)] })]]
        #expect(error("find", ["filter": documents], limits)?.details["limit"] == "max-conditions")
    }

    @Test("do not bind what an administrator wrote")
    func unbounded() throws {
        let many = BSONDocument((0..<5000).map { .init(key: "f\($0)", value: 1) })
        _ = try FilterParser.parse(many)
        #expect(error("find", ["filter": .document(many)], .standard) != nil)
    }
}
