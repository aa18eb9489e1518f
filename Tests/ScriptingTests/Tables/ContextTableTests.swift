import BSON
import Scripting
import Testing

/// `reference/functions.md` §4.3, row by row.
@Suite("Tables of functions.md: §4.3 context.http")
struct ContextTableTests {
    /// Gives back what it was asked.
    private static let echo = RecordingHost { call in .success(.document(call.arguments)) }

    @Test(
        "§4.3 argument",
        arguments: [
            TableRow("url", "(await get({ url: 'https://a.example/p' })).url", #""https://a.example/p""#),
            TableRow(
                "or parts: scheme, host, path, query, fragment",
                "(await get({ scheme: 'https', host: 'a.example', path: 'p', query: { a: ['1', 'x y'], b: ['2'] }, fragment: 'f' })).url",
                #""https://a.example/p?a=1&a=x%20y&b=2#f""#
            ),
            TableRow(
                "scheme: http default",
                "(await get({ host: 'a.example' })).url",
                #""http://a.example""#
            ),
            TableRow(
                "one sample uses domain for host",
                "(await get({ domain: 'a.example' })).url",
                #""http://a.example""#
            ),
            TableRow(
                "username, password",
                "(({ username, password }) => [username, password])((await get({ host: 'a.example', username: 'u', password: 'p' })))",
                #"["u","p"]"#
            ),
            TableRow(
                "headers",
                "(await get({ host: 'a.example', headers: { A: ['1', '2'] } })).headers",
                #"{"A":["1","2"]}"#
            ),
            TableRow(
                "cookies",
                "(await get({ host: 'a.example', cookies: { s: '1', t: '2' } })).headers",
                #"{"Cookie":["s=1; t=2"]}"#
            ),
            TableRow("body", "(await post({ host: 'a.example', body: 'text' })).body.text()", #""text""#),
            TableRow(
                "body: object only with encodeBodyAsJSON",
                "(await post({ host: 'a.example', body: { n: 1 } }))",
                "!TypeError: http: body takes a string or a BSON.Binary"
            ),
            TableRow(
                "encodeBodyAsJSON",
                "(await put({ host: 'a.example', body: { n: 1, at: new Date(0) }, encodeBodyAsJSON: true })).body.text()",
                #""{\"n\":{\"$numberInt\":\"1\"},\"at\":{\"$date\":{\"$numberLong\":\"0\"}}}""#
            ),
            TableRow(
                "form",
                "(await post({ host: 'a.example', form: { a: '1' }, headers: { 'Content-Type': ['multipart/form-data; boundary=XX'] } })).body.text()",
                #""--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--XX--\r\n""#
            ),
            TableRow(
                "form: excludes body",
                "(await post({ host: 'a.example', form: { a: '1' }, body: 'x' }))",
                "!TypeError: http: form and body exclude each other"
            ),
            TableRow("digestAuth", "(await get({ host: 'a.example', digestAuth: true })).digestAuth", "true"),
            TableRow(
                "authUrl",
                "(await get({ host: 'a.example', authUrl: 'https://a.example/login' })).authUrl",
                #""https://a.example/login""#
            ),
            TableRow(
                "followRedirects: default false",
                "[(await get({ host: 'a.example' })).followRedirects, (await get({ host: 'a.example', followRedirects: true })).followRedirects]",
                "[false,true]"
            ),
            TableRow(
                "get post put patch delete head",
                "(await Promise.all(['get', 'post', 'put', 'patch', 'delete', 'head'].map((m) => call(m, { host: 'a.example' })))).map((r) => r.method)",
                #"["GET","POST","PUT","PATCH","DELETE","HEAD"]"#
            ),
        ]
    )
    func http(row: TableRow) async {
        let source = """
            const call = (method, args) => context.http[method](args);
            const [get, post, put] = ['get', 'post', 'put'].map((m) => (args) => call(m, args));
            exports = async () => (\(row.source));
            """
        #expect(await ScriptFixture.text(source, host: Self.echo) == row.answer)
    }
}
