import Foundation
import TestSupport
import Testing

/// Documents that differ in what is hidden alone, and what both the query and the update tests ask about them.
enum HiddenField {
    /// Documents as they are seen, `ID` for their ids, and what is hidden in the one and the other.
    struct Twin {
        let collection: String
        let visible: String
        let first: String
        let second: String
    }

    private static let staff = Twin(
        collection: "Staff",
        visible:
            #""name":"x","team":"t","contact":{"city":"c"PRIVATE},"items":[{"sku":"s1","n":1COST},{"sku":"s2","n":2COST}]"#,
        first: #""salary":10,"pin":"1111","list":[1,2],"flags":{"a":1}"#,
        second: #""salary":90,"pin":"HIDDEN-5f3a","list":["x"],"flags":"text""#
    )

    static let twins: [Twin] = [
        staff,
        Twin(
            collection: "Mixed",
            visible: #""name":"x""#,
            first:
                #""owner":"o1","salary":10,"pin":"1111","list":[1],"contact":{"phone":"1"},"items":[{"sku":"s1","cost":5}]"#,
            second: #""owner":"o2","salary":90,"pin":"HIDDEN-5f3a","flags":1"#
        ),
        Twin(
            collection: "Masked",
            visible: #""name":"x","salary":1"#,
            first: #""pin":"1111""#,
            second: #""pin":"HIDDEN-5f3a""#
        ),
    ]

    /// Hidden paths: by name, below, above, through arrays, at places, in another case, and one that nothing has.
    static let paths: [(collection: String, path: String)] = [
        ("Staff", "salary"), ("Staff", "pin"), ("Staff", "list.0"), ("Staff", "flags.a"),
        ("Staff", "contact.phone"),
        ("Staff", "items.cost"), ("Staff", "items.1.cost"), ("Staff", "contact"), ("Staff", "items"),
        ("Staff", "SALARY"), ("Mixed", "salary"), ("Mixed", "pin"), ("Mixed", "owner"), ("Mixed", "items.0"),
        ("Mixed", "contact.phone"), ("Mixed", "flags"), ("Masked", "pin"), ("Masked", "pin.0"),
    ]

    static func twin(_ collection: String) throws -> Twin {
        try #require(twins.first { $0.collection == collection })
    }

    static func protect() async throws {
        let api = try await AttackApp.caller()
        try await AttackApp.sql("select tidegate.set_hidden_field_queries('\(api.app)', false)")
        try await eventually {
            let user = try await api.newUser()
            return try await api.attack("find", "Staff", #""filter":{"salary":1}"#, as: user.bearer).status
                == 400
        }
    }

    /// Pairs of documents that look the same to the caller, under ids of their own.
    static func put(_ twin: Twin, pairs: Int) async throws -> [(String, String)] {
        var ids: [[String]] = []
        var documents: [String] = []
        for _ in 0..<pairs {
            var pair: [String] = []
            for (hidden, secret) in [(twin.first, "1"), (twin.second, "9")] {
                let id = UUID().uuidString
                let visible = twin.visible.replacingOccurrences(
                    of: "PRIVATE",
                    with: #","phone":"\#(secret)""#
                )
                .replacingOccurrences(of: "COST", with: #","cost":\#(secret)"#)
                documents.append(#"{"_id":"\#(id)",\#(visible),\#(hidden)}"#)
                pair.append(id)
            }
            ids.append(pair)
        }
        try await AttackApp.put(twin.collection, documents)
        return ids.map { ($0[0], $0[1]) }
    }

    /// The same request about the one and the other; what their own ids make different is taken out.
    static func answers(
        _ ids: (String, String),
        _ request: (String) async throws -> APICaller.Answer
    ) async throws -> (String, String) {
        var texts: [String] = []
        for id in [ids.0, ids.1] {
            let answer = try await request(id)
            #expect(answer.status == 200 || answer.status == 400, "\(answer.text)")
            let text = "\(answer.status) \(answer.text)".replacingOccurrences(of: id, with: "ID")
            texts.append(text.replacing(/logs\?co_id=[0-9a-f]{24}/, with: "logs"))
        }
        #expect(!(texts[0] + texts[1]).contains(AttackApp.marker), "\(texts)")
        return (texts[0], texts[1])
    }
}
