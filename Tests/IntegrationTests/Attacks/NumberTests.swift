import Foundation
import TestSupport
import Testing

/// Numbers, dates and ids at and past their limits, and keys that come twice; `peers.md` §6.3.
@Suite("Attack: numbers, types and keys")
struct NumberTests {
    /// What is stored comes back in the same canonical form.
    private static let exact = [
        #"{"$numberInt":"2147483647"}"#, #"{"$numberInt":"-2147483648"}"#,
        #"{"$numberLong":"9223372036854775807"}"#,
        #"{"$numberLong":"-9223372036854775808"}"#, #"{"$numberDouble":"NaN"}"#,
        #"{"$numberDouble":"Infinity"}"#,
        #"{"$numberDouble":"-Infinity"}"#, #"{"$numberDouble":"-0.0"}"#, #"{"$numberDouble":"5E-324"}"#,
        #"{"$numberDouble":"1.7976931348623157E+308"}"#,
        #"{"$numberDecimal":"1234567890123456789012345678901234"}"#,
        #"{"$numberDecimal":"9.999999999999999999999999999999999E+6144"}"#, #"{"$numberDecimal":"1E-6176"}"#,
        #"{"$numberDecimal":"-0"}"#, #"{"$numberDecimal":"NaN"}"#, #"{"$numberDecimal":"0E+6000"}"#,
        #"{"$numberDecimal":"1.10"}"#, #"{"$date":{"$numberLong":"9223372036854775807"}}"#,
        #"{"$date":{"$numberLong":"-9223372036854775808"}}"#, #"{"$date":{"$numberLong":"-1"}}"#,
        #"{"$oid":"ffffffffffffffffffffffff"}"#, #"{"$timestamp":{"t":4294967295,"i":4294967295}}"#,
        #"{"$binary":{"base64":"","subType":"ff"}}"#, #"{"$minKey":1}"#, #"{"$maxKey":1}"#,
        #"{"$undefined":true}"#,
    ]

    @Test("a value at its limit comes back as it was", arguments: exact)
    func roundTrip(value: String) async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        let inserted = try await api.attack(
            "insertOne",
            "Open",
            #""document":{"_id":"\#(id)","v":\#(value)}"#,
            as: user.bearer
        )
        #expect(inserted.status == 201, "\(inserted.text)")
        let found = try await api.act(
            "findOne",
            "Open",
            #""filter":{"_id":"\#(id)"}"#,
            as: user.bearer,
            database: "vault",
            accept: "application/ejson"
        )
        #expect(found.text == #"{"document":{"_id":"\#(id)","v":\#(value)}}"#)
        // Copied by an update, by a pipeline, and by a stage.
        for change in [#"{"$rename":{"v":"w"}}"#, #"[{"$set":{"v":"$w"}},{"$unset":"w"}]"#] {
            _ = try await api.attack(
                "updateOne",
                "Open",
                #""filter":{"_id":"\#(id)"},"update":\#(change)"#,
                as: user.bearer
            )
        }
        let copied = try await api.act(
            "aggregate",
            "Open",
            #""pipeline":[{"$match":{"_id":"\#(id)"}},{"$project":{"_id":0,"v":1}}]"#,
            as: user.bearer,
            database: "vault",
            accept: "application/ejson"
        )
        #expect(copied.text == #"{"documents":[{"v":\#(value)}]}"#)
    }

    private static let refused = [
        "1e400", "-1e400", "1E+99999", "00", "01", "+1", "0x10", "1.", ".5", "NaN", "Infinity", "--1",
        "1_000",
        #"{"$numberInt":"2147483648"}"#, #"{"$numberInt":2147483647}"#, #"{"$numberInt":"1.0"}"#,
        #"{"$numberInt":""}"#,
        #"{"$numberLong":"9223372036854775808"}"#, #"{"$numberLong":"1e3"}"#, #"{"$numberLong":"0x1"}"#,
        #"{"$numberDouble":"1e400"}"#,
        #"{"$numberDouble":"abc"}"#, #"{"$numberDecimal":"1E+99999"}"#,
        #"{"$numberDecimal":"12345678901234567890123456789012345"}"#,
        #"{"$numberDecimal":"1.2.3"}"#, #"{"$oid":"zz"}"#, #"{"$oid":"123"}"#,
        #"{"$oid":"fffffffffffffffffffffffff"}"#, #"{"$oid":1}"#,
        #"{"$date":"yesterday"}"#, #"{"$date":{"$numberLong":"9223372036854775808"}}"#,
        #"{"$date":"2020-13-01T00:00:00Z"}"#,
        #"{"$date":"2020-02-30T00:00:00Z"}"#, #"{"$timestamp":{"t":4294967296,"i":1}}"#,
        #"{"$timestamp":{"t":-1,"i":1}}"#,
        #"{"$binary":{"base64":"!","subType":"00"}}"#, #"{"$binary":{"base64":"","subType":"100"}}"#,
        #"{"$uuid":"nope"}"#,
        #""\u0000""#, #""a\u0000b""#, #""\ud800""#, #"{"a":1,"a":2}"#, #"{"a":{"b":1,"c":2,"b":3}}"#,
        #"[{"x":1,"x":1}]"#,
        #"{"\u0061":1,"a":2}"#, #"{"$numberInt":"1","$numberInt":"2"}"#,
    ]

    @Test(
        "a value past its limit, a NUL and a key that comes twice are refused wherever they stand",
        arguments: refused
    )
    func refusals(value: String) async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        for (action, members) in [
            ("insertOne", #""document":{"_id":"\#(id)","v":\#(value)}"#),
            ("insertOne", #""document":{"_id":"\#(id)","v":[{"w":\#(value)}]}"#),
            ("insertMany", #""documents":[{"_id":"\#(id)"},{"v":\#(value)}]"#),
            ("find", #""filter":{"v":\#(value)}"#),
            ("updateOne", #""filter":{"_id":"\#(id)"},"update":{"$set":{"v":\#(value)}},"upsert":true"#),
            ("aggregate", #""pipeline":[{"$match":{"v":\#(value)}}]"#),
            ("deleteMany", #""filter":{"_id":"\#(id)","v":\#(value)}"#),
        ] {
            let answer = try await api.attack(action, "Open", members, as: user.bearer)
            // PostgreSQL cannot store a NUL; asking for one is no fault, and finds nothing.
            if value.contains("\\u0000"), answer.status == 200 {
                #expect(
                    [#"{"documents":[]}"#, #"{"deletedCount":0}"#].contains(answer.text),
                    "\(action) \(value)"
                )
                continue
            }
            #expect(answer.status == 400, "\(action) \(value): \(answer.status) \(answer.text)")
            #expect(answer.errorCode == "InvalidParameter", "\(action) \(value): \(answer.text)")
        }
    }

    @Test("1, 1.0, a long 1 and a decimal 1 are one _id")
    func identity() async throws {
        let (api, user) = try await AttackApp.user()
        let collection = "Ids-\(UUID().uuidString.prefix(8))"
        let ones = [
            "1", "1.0", #"{"$numberLong":"1"}"#, #"{"$numberDecimal":"1"}"#, #"{"$numberDecimal":"1.00"}"#,
            #"{"$numberDouble":"1"}"#,
        ]
        for (index, one) in ones.enumerated() {
            let inserted = try await api.attack(
                "insertOne",
                collection,
                #""document":{"_id":\#(one)}"#,
                as: user.bearer
            )
            #expect(inserted.status == (index == 0 ? 201 : 400), "\(one): \(inserted.text)")
            let found = try await api.attack(
                "find",
                collection,
                #""filter":{"_id":\#(one)}"#,
                as: user.bearer
            )
            #expect((found.object["documents"] as? [Any])?.count == 1, "\(one)")
        }
        for other in [
            "true", #""1""#, "1.5", #"{"$oid":"000000000000000000000001"}"#,
            #"{"$date":{"$numberLong":"1"}}"#, "{}", #"{"a":1}"#,
        ] {
            let inserted = try await api.attack(
                "insertOne",
                collection,
                #""document":{"_id":\#(other)}"#,
                as: user.bearer
            )
            #expect(inserted.status == 201, "\(other): \(inserted.text)")
        }
        let zeros = ["0", "-0.0", #"{"$numberDecimal":"-0"}"#, #"{"$numberDecimal":"0E+3"}"#]
        for (index, zero) in zeros.enumerated() {
            let inserted = try await api.attack(
                "insertOne",
                collection,
                #""document":{"_id":\#(zero)}"#,
                as: user.bearer
            )
            #expect(inserted.status == (index == 0 ? 201 : 400), "\(zero): \(inserted.text)")
        }
    }

    @Test("arithmetic past an int64 is refused or widened, never wrapped")
    func overflow() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        let most = #"{"$numberLong":"9223372036854775807"}"#
        _ = try await api.attack(
            "insertOne",
            "Open",
            #""document":{"_id":"\#(id)","n":\#(most),"i":2147483647}"#,
            as: user.bearer
        )
        for change in [#"{"$inc":{"n":1}}"#, #"{"$mul":{"n":2}}"#, #"{"$inc":{"n":\#(most)}}"#] {
            let answer = try await api.attack(
                "updateOne",
                "Open",
                #""filter":{"_id":"\#(id)"},"update":\#(change)"#,
                as: user.bearer
            )
            #expect(answer.status == 400, "\(change): \(answer.text)")
        }
        let widened = try await api.attack(
            "updateOne",
            "Open",
            #""filter":{"_id":"\#(id)"},"update":{"$inc":{"i":1}}"#,
            as: user.bearer
        )
        #expect(widened.status == 200)
        let found = try await api.attack("findOne", "Open", #""filter":{"_id":"\#(id)"}"#, as: user.bearer)
        #expect(found.text.contains(#""i":2147483648"#), "\(found.text)")
        #expect(found.text.contains("9223372036854775807"), "\(found.text)")
    }
}
