import BSON
import Scripting
import Testing

/// Functions of endpoints, and requests that functions make: `reference/functions.md` §§4, 12.
@Suite("Functions of endpoints")
struct EndpointTests {
    private static func run(_ source: String, _ request: BSONDocument = [:]) async -> ScriptOutcome {
        await ScriptFixture.shared.run(
            ScriptFixture.call(
                .named("test"),
                [.document(request)],
                form: .endpoint,
                request: ["remoteIPAddress": "192.0.2.1", "requestHeaders": ["Accept": ["a", "b"]]],
                isSystem: true
            ),
            of: ScriptFixture.bundle(["test": source]),
            host: RecordingHost()
        )
    }

    @Test("fill a response")
    func response() async {
        let source = """
            exports = ({ query, body, headers }, response) => {
              response.setStatusCode(201);
              response.setHeader('X-One', '1'); response.addHeader('X-Two', 'a'); response.addHeader('X-Two', 'b');
              response.setHeader('x-one', '2');
              response.setBody(body.text() + query.a + headers.Accept[1]);
              return [context.request.remoteIPAddress, context.request.requestHeaders.Accept, context.runningAsSystem()];
            }
            """
        let outcome = await Self.run(
            source,
            [
                "query": ["a": "1"], "headers": ["Accept": ["x", "y"]],
                "body": .binary(BSONBinary(subtype: 0, bytes: Array("body".utf8))),
            ]
        )
        #expect(ScriptFixture.text(outcome) == #"["192.0.2.1",["a","b"],true]"#)
        #expect(outcome.response?.status == 201)
        #expect(outcome.response?.body == Array("body1y".utf8))
        #expect(
            outcome.response?.headers == [
                .init(name: "X-Two", value: "a"), .init(name: "X-Two", value: "b"),
                .init(name: "x-one", value: "2"),
            ]
        )
    }

    @Test("take bytes as a body, and nothing that is neither text nor bytes")
    func bodies() async {
        let bytes = await Self.run("exports = (q, r) => { r.setBody(BSON.Binary.fromHex('00ff')) }")
        #expect(bytes.response?.body == [0, 255])
        let wrong = await Self.run("exports = (q, r) => r.setBody({a: 1})")
        #expect(ScriptFixture.text(wrong) == "!TypeError: setBody takes a string or a BSON.Binary")
        let status = await Self.run("exports = (q, r) => r.setStatusCode('x')")
        #expect(
            ScriptFixture.text(status) == "!TypeError: setStatusCode takes a whole number from 100 to 599"
        )
        let silent = await Self.run("exports = () => 1")
        #expect(silent.response == ScriptOutcome.Response())
    }

    @Test("keep the first lines of the console")
    func console() async {
        let outcome = await Self.run("exports = () => { for (let i = 0; i < 30; i++) console.log(i) }")
        #expect(outcome.messages == (0..<25).map(String.init))
    }

    @Test("ask the gateway for what is elsewhere")
    func http() async throws {
        let host = RecordingHost { call in
            guard call.arguments["url"] != "http://down" else {
                return .failure(HostError("no route to host"))
            }
            return .success([
                "status": "200 OK", "statusCode": 200, "contentLength": .int64(2), "headers": ["A": ["b"]],
                "cookies": ["c": "d"], "body": .binary(BSONBinary(subtype: 0, bytes: Array("{}".utf8))),
            ])
        }
        let source = """
            exports = async () => {
              const r = await context.http.post({ scheme: 'https', host: 'ex.com', path: '/p', query: {a: ['1', 'x y']},
                headers: {'Content-Type': ['application/json']}, cookies: {s: '1'}, body: {n: 1}, encodeBodyAsJSON: true });
              const g = await context.http.get({ url: 'https://ex.com', followRedirects: true });
              let down; try { await context.http.get({ url: 'http://down' }) } catch (e) { down = e.message }
              let bad; try { await context.http.get({ uri: 'x' }) } catch (e) { bad = e.message }
              return [r.status, r.statusCode, r.contentLength, r.headers.A[0], r.cookies.c, JSON.parse(r.body.text()), down, bad];
            }
            """
        #expect(
            await ScriptFixture.text(source, host: host)
                == #"["200 OK",{"$numberInt":"200"},{"$numberInt":"2"},"b","d",{},"no route to host","http: unknown argument 'uri'"]"#
        )
        let first = try #require(host.calls.first)
        #expect(first.name == "http")
        #expect(first.arguments["url"] == "https://ex.com/p?a=1&a=x%20y")
        #expect(first.arguments["method"] == "POST")
        #expect(first.arguments["headers"] == ["Content-Type": ["application/json"], "Cookie": ["s=1"]])
        #expect(
            first.arguments["body"]
                == .binary(BSONBinary(subtype: 0, bytes: Array(#"{"n":{"$numberInt":"1"}}"#.utf8)))
        )
        #expect(host.calls[1].arguments["followRedirects"] == true)
    }
}
