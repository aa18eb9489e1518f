import BSON
import Testing

@testable import Services

@Suite("What the log says of a run")
struct FunctionLogTextTests {
    @Test(
        "names arguments, but for what credentials are called",
        arguments: [
            ([], "[]"), ([1], #"[{"$numberInt":"1"}]"#), ([["a": ["b": "c"]]], #"[{"a":{"b":"c"}}]"#),
            (
                [["Authorization": "x", "X-Hook-Signature": ["y"], "a": [["access_token": "z"]]]],
                #"[{"Authorization":"…","X-Hook-Signature":"…","a":[{"access_token":"…"}]}]"#
            ),
            ([["tokens": "kept", "-_PassWord": "x"]], #"[{"tokens":"kept","-_PassWord":"…"}]"#),
        ] as [([BSONValue], String)]
    )
    func arguments(arguments: [BSONValue], text: String) {
        #expect(FunctionLogText.arguments(arguments) == text)
    }

    @Test("cuts long ones where the whole would be cut, without writing the whole")
    func longArguments() {
        let bytes = (0..<9000).map { UInt8(truncatingIfNeeded: $0) }
        let long: [[BSONValue]] = [
            [.string(String(repeating: "é", count: 5000))], [.string(String(repeating: "a", count: 4093))],
            [.array((0..<5000).map { .int32($0) })], [.binary(BSONBinary(subtype: 0, bytes: bytes))],
            [.document(BSONDocument((0..<500).map { .init(key: "key \($0)", value: "value") }))],
            (0..<100).map { [.string(String(repeating: "b", count: 50)), .int32($0)] },
        ]
        for arguments in long {
            let whole = ExtendedJSON.canonical(.array(arguments))
            let shown = FunctionLogText.arguments(arguments)
            let cut = String(decoding: whole.utf8.prefix(4096), as: UTF8.self) + "…"
            #expect(shown == ExtendedJSON.canonical(.string(cut)), "\(shown.prefix(60))")
        }
    }
}
