import Accounts
import BSON
import Errors
import MQL
import Postgres
import SQL
import Services
import TestSupport
import Testing

@Suite("countDocuments, estimatedDocumentCount, distinct")
struct CountTests {
    private func count(_ fixture: DataFixture, _ collection: String, _ members: String) async throws -> Int {
        guard
            case .counted(let count) = try await fixture.perform(
                "countDocuments",
                collection,
                members,
                as: .system
            )
        else { return -1 }
        return count
    }

    private func values(
        _ fixture: DataFixture,
        _ collection: String,
        _ members: String,
        as caller: Principal = .system
    ) async throws -> String {
        guard
            case .values(let values) = try await fixture.perform("distinct", collection, members, as: caller)
        else { return "" }
        var text: [UInt8] = []
        PlainJSON.write(.array(values), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test("a count is that of find, whether SQL decides or not")
    func counts() async throws {
        let fixture = try await DataFixture()
        #expect(try await count(fixture, "Open", "{}") == 0)
        try await fixture.insert(
            "Open",
            #"{"_id":1,"a":1}"#,
            #"{"_id":2,"a":[1,2]}"#,
            #"{"_id":3,"a":"x y"}"#,
            #"{"_id":4}"#
        )
        for (members, expected) in [
            ("{}", 4), (#"{"filter":{"a":1}}"#, 2), (#"{"skip":1}"#, 3), (#"{"limit":2}"#, 2),
            (#"{"skip":3,"limit":2}"#, 1), (#"{"skip":9}"#, 0),
            // What SQL does not decide.
            (#"{"filter":{"$expr":{"$eq":["$_id",3]}}}"#, 1),
            (#"{"filter":{"$expr":true},"skip":1,"limit":2}"#, 2),
            (#"{"filter":{"$expr":true},"skip":9}"#, 0),
        ] {
            #expect(try await count(fixture, "Open", members) == expected, "\(members)")
        }
        guard
            case .counted(4) = try await fixture.perform("estimatedDocumentCount", "Open", "{}", as: .system),
            case .counted(4) = try await fixture.perform(
                "estimatedDocumentCount",
                "Open",
                "{}",
                as: DataFixture.ann
            )
        else { return #expect(Bool(false)) }
        await fixture.database.close()
    }

    @Test("nobody counts or lists what rules keep from him")
    func rules() async throws {
        let fixture = try await DataFixture(hiddenFieldQueries: false)
        let ann = DataFixture.id(DataFixture.ann)
        try await fixture.insert(
            "Item",
            #"{"_id":1,"ownerId":"\#(ann)","n":1}"#,
            #"{"_id":2,"ownerId":"other","n":2}"#
        )
        for action in ["countDocuments", "estimatedDocumentCount"] {
            guard
                case .counted(1) = try await fixture.perform(action, "Item", "{}", as: DataFixture.ann),
                case .counted(0) = try await fixture.perform(action, "Item", "{}", as: DataFixture.bob)
            else {
                Issue.record("\(action)")
                continue
            }
        }
        #expect(try await values(fixture, "Item", #"{"key":"n"}"#, as: DataFixture.ann) == "[1]")
        #expect(try await values(fixture, "Item", #"{"key":"n"}"#, as: DataFixture.bob) == "[]")
        // A field that the role does not show is refused, as in a find; one inside of a shown part is not there.
        try await fixture.insert("Fields", #"{"_id":1,"shown":1,"secret":7,"nested":{"open":1,"closed":2}}"#)
        await #expect(throws: ServiceError.self) {
            _ = try await values(fixture, "Fields", #"{"key":"secret"}"#, as: DataFixture.ann)
        }
        await #expect(throws: ServiceError.self) {
            _ = try await fixture.perform(
                "countDocuments",
                "Fields",
                #"{"filter":{"secret":7}}"#,
                as: DataFixture.ann
            )
        }
        #expect(try await values(fixture, "Fields", #"{"key":"shown"}"#, as: DataFixture.ann) == "[1]")
        #expect(
            try await values(fixture, "Fields", #"{"key":"nested"}"#, as: DataFixture.ann) == #"[{"open":1}]"#
        )
        // A rule filter's query and projection hold as well.
        try await fixture.insert(
            "Filtered",
            #"{"_id":1,"secret":"s","t":"x"}"#,
            #"{"_id":2,"deleted":true,"t":"y"}"#
        )
        #expect(try await values(fixture, "Filtered", #"{"key":"t"}"#, as: DataFixture.ann) == #"["x"]"#)
        guard
            case .counted(1) = try await fixture.perform(
                "countDocuments",
                "Filtered",
                "{}",
                as: DataFixture.ann
            )
        else { return #expect(Bool(false)) }
        await fixture.database.close()
    }

    @Test("where hidden fields may be asked for, answers still show none of them")
    func permissive() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert(
            "Fields",
            #"{"_id":1,"shown":1,"secret":7,"nested":{"open":1,"closed":2}}"#
        )
        for key in ["secret", "nested.closed"] {
            #expect(try await values(fixture, "Fields", #"{"key":"\#(key)"}"#, as: DataFixture.ann) == "[]")
        }
        #expect(
            try await values(fixture, "Fields", #"{"key":"nested"}"#, as: DataFixture.ann) == #"[{"open":1}]"#
        )
        try await fixture.insert("Filtered", #"{"_id":1,"secret":"s","t":"x"}"#)
        #expect(try await values(fixture, "Filtered", #"{"key":"secret"}"#, as: DataFixture.ann) == "[]")
        for members in [
            #"{"filter":{"secret":7},"projection":{"secret":1}}"#,
            #"{"filter":{},"sort":{"secret":1},"projection":{"copy":"$secret"}}"#,
        ] {
            #expect(
                try await fixture.documents("findOne", "Fields", members, as: DataFixture.ann)
                    == #"{"_id":1}"#
            )
            let changing =
                String(members.dropLast()) + #","update":{"$set":{"shown":2}},"returnNewDocument":true}"#
            #expect(
                try await fixture.documents("findOneAndUpdate", "Fields", changing, as: DataFixture.ann)
                    == #"{"_id":1}"#
            )
        }
        await fixture.database.close()
    }

    @Test("distinct tells values apart as BSON does, by SQL and in memory alike")
    func distinct() async throws {
        let fixture = try await DataFixture()
        #expect(try await values(fixture, "Open", #"{"key":"a"}"#) == "[]")
        try await fixture.insert(
            "Open",
            #"{"_id":1,"a":1,"o":{"x":1,"y":2}}"#,
            #"{"_id":2,"a":{"$numberDecimal":"1.0"},"o":{"y":2,"x":1}}"#,
            #"{"_id":3,"a":[2.5,"x",[1]],"o":[{"x":1,"y":2}]}"#,
            #"{"_id":4,"a":null}"#,
            #"{"_id":5,"a":[]}"#
        )
        #expect(try await values(fixture, "Open", #"{"key":"a"}"#) == #"[null,1,2.5,"x",[1]]"#)
        for filter in [#"{"_id":{"$gt":1}}"#, #"{"$expr":{"$gt":["$_id",1]}}"#] {
            #expect(
                try await values(fixture, "Open", #"{"key":"a","filter":\#(filter)}"#)
                    == #"[null,"1.0",2.5,"x",[1]]"#
            )
        }
        #expect(
            try await values(fixture, "Open", #"{"key":"o"}"#) == #"[{"x":1,"y":2},{"y":2,"x":1}]"#
        )
        #expect(try await values(fixture, "Open", #"{"key":"o.x"}"#) == "[1]")
        #expect(try await values(fixture, "Open", #"{"key":"a.0"}"#) == "[2.5]")
        await fixture.database.close()
    }
}
