import BSON
import Testing

@testable import Scripting

/// Values on their way between engine and gateway.
@Suite("Texts between worker and gateway")
struct WireTextTests {
    private static func text(_ content: String) -> WireText {
        Array(content.utf16).withUnsafeBufferPointer { WireText($0) }
    }

    @Test(
        "take a byte for each unit where that is enough, and say the same",
        arguments: [
            ("{1:as2:hi}", false), ("s3:\u{e9}\u{ff}a", false), ("s2:\u{20ac}a", true),
            ("s3:\u{1F600}a", true),
            ("s1:\0", false), ("s2:\u{20ac}\0", true),
        ]
    )
    func widths(content: String, isWide: Bool) throws {
        let made = Self.text(content)
        #expect(made.isWide == isWide)
        #expect(made.bytes.count == content.utf16.count * (isWide ? 2 : 1))
        #expect(made.hasZero == content.utf16.contains(0))
        guard case .binary(let binary) = made.binary else {
            Issue.record("\(made.binary)")
            return
        }
        let value = try WireText(binary).value()
        let expected: BSONValue =
            content.hasPrefix("{")
            ? ["a": "hi"] : .string(String(content.split(separator: ":", maxSplits: 1)[1]))
        #expect(value == expected)
    }

    @Test("that are none are refused", arguments: ["", "s5:hi", "{1:a", "x", "s1:ab", "i1"])
    func malformed(content: String) {
        #expect(throws: ScriptTextFault.self) { try Self.text(content).value() }
    }

    @Test("are refused when a unit is cut in two")
    func odd() {
        let cut = WireText(BSONBinary(subtype: 1, bytes: [110]))
        #expect(throws: ScriptTextFault.self) { try cut.value() }
    }

    @Test(
        "carry whatever a function returns",
        arguments: [
            ("({ 'ключ': ['😀é', '\\u0000'] })", #"{"ключ":["😀é","\u0000"]}"#),
            ("'é'.repeat(3)", #""ééé""#),
            ("['\\ud800', 'a']", "[\"\u{fffd}\",\"a\"]"),
            ("undefined", #"{"$undefined":true}"#),
        ]
    )
    func results(expression: String, answer: String) async {
        #expect(await ScriptFixture.text("exports = () => (\(expression))") == answer)
    }

    @Test("carry arguments of host calls and their answers; only keys may not hold a NUL")
    func hostCalls() async {
        let host = RecordingHost { call in .success(call.arguments["arguments"]?.document?["query"] ?? .null)
        }
        let source = """
            exports = async (query) => {
              const tasks = context.services.get('mongodb-atlas').db('d').collection('c');
              const found = await tasks.findOne(query);
              let refused = '';
              try { await tasks.findOne({ 'a\\0b': 1 }) } catch (error) { refused = error.message }
              return [found, refused];
            };
            """
        let query: BSONValue = [
            "имя": "😀\0", "n": .int64(5), "id": .objectID(ObjectID(hex: "5cbf68583025b12840664682")!),
        ]
        let outcome = await ScriptFixture.run(source, query, host: host)
        #expect(
            ScriptFixture.text(outcome)
                == #"[{"имя":"😀\u0000","n":{"$numberLong":"5"},"id":{"$oid":"5cbf68583025b12840664682"}},"the arguments cannot be sent: a key or pattern holds a NUL, or they are too large"]"#
        )
        #expect(host.calls.count == 1)
    }

    @Test(
        "tell of the user and the request also where no source names them, and while host calls are under way"
    )
    func factsOnDemand() async {
        let host = RecordingHost { _ in .success(["a"]) }
        let source = """
            exports = async () => {
              const [name, caller] = [['req', 'uest'].join(''), ['us', 'er'].join('')];
              const names = context.services.get('mongodb-atlas').admin().getDBNames();
              const seen = context[name] === undefined ? 'none' : context[name].httpMethod;
              const { id, data } = context[caller];
              return [seen, await names, context[name] === context[name], id, data.email];
            };
            """
        let bundle = ScriptFixture.bundle(["test": source])
        for (request, seen) in [(["httpMethod": "GET"] as BSONDocument?, "GET"), (nil, "none")] {
            let outcome = await ScriptFixture.shared.run(
                ScriptFixture.call(.named("test"), request: request),
                of: bundle,
                host: host
            )
            #expect(
                ScriptFixture.text(outcome)
                    == #"["\#(seen)",["a"],true,"5cbf68583025b12840664682","a@example.com"]"#
            )
        }
    }
}
