import BSON
import Scripting
import Testing

/// The globals of functions, with the published vectors: `reference/functions.md` §6.
@Suite("The globals of functions")
struct GlobalTests {
    private static let token = """
        eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvZSBTY2htb2UiLCJpYXQiOjE1NjU3MjEyMjMxODd9\
        .-QL15ldu2BYuJokNWT6YRiwZQIiIpvq6Kyv-C6qslNdNiUVxo8zqLJZ1iEkNf2yZKMIrQuMCtIC1tzd2H31AxA
        """

    @Test(
        "answer as documented",
        arguments: [
            (
                "utils.crypto.hmac('hello!', 'super-secret', 'sha256', 'base64')",
                #""SUXd6PRMaTXXgBGaGsIHzaDWgTSa6C3D44lRGrvRak0=""#
            ),
            (
                "utils.crypto.hash('sha256', 'hello!').toBase64()",
                #""zgYJL7lI2f+sfRo3bkBLJrdXW8wR7gWkYV/vT+w6MIs=""#
            ),
            (
                "utils.crypto.hash('md5', BSON.Binary.fromText('a')).toHex()",
                #""0cc175b9c0f1b6a831c399e269772661""#
            ),
            (
                "utils.crypto.hash('sha512', 'a')",
                "!TypeError: 'sha512' is not supported: use one of sha1, sha256, md5"
            ),
            (
                "utils.crypto.decrypt('aes', BSON.Binary.fromBase64('WPBuIvJ6Bity43Uh822dW8QlVYVJaFUiDeUjlTiJXzptUuTYIKPlXekBQAJb'), '603082712271C525E087BD999A4E0738').text()",
                #""MongoDB is great!""#
            ),
            (
                "utils.crypto.decrypt('aes', utils.crypto.encrypt('aes', 'hi', '0123456789abcdef'), '0123456789abcdef').text()",
                #""hi""#
            ),
            ("utils.crypto.encrypt('aes', 'hi', 'short')", "!the key must have 16, 24 or 32 bytes"),
            (
                "EJSON.stringify({answer: BSON.Long(42), submittedAt: new Date(1583167607977)})",
                #""{\"answer\":{\"$numberLong\":\"42\"},\"submittedAt\":{\"$date\":{\"$numberLong\":\"1583167607977\"}}}""#
            ),
            ("EJSON.stringify({a: 42})", #""{\"a\":{\"$numberInt\":\"42\"}}""#),
            (
                #"EJSON.parse('{"a":{"$oid":"5cbf68583025b12840664682"},"b":{"$numberLong":"5"}}')"#,
                #"{"a":{"$oid":"5cbf68583025b12840664682"},"b":{"$numberLong":"5"}}"#
            ),
            ("EJSON.parse('{')", "!invalid Extended JSON"),
            (
                "JSON.stringify({at: new Date(0), id: BSON.ObjectId('5cbf68583025b12840664682')})",
                #""{\"at\":\"1970-01-01T00:00:00.000Z\",\"id\":\"5cbf68583025b12840664682\"}""#
            ),
            ("BSON.ObjectId().toString().length", #"{"$numberInt":"24"}"#),
            ("new BSON.ObjectId('abcdefghijkl')", #"{"$oid":"6162636465666768696a6b6c"}"#),
            ("BSON.ObjectId('x')", "!TypeError: an ObjectId is made of 24 hexadecimal digits or 12 bytes"),
            ("BSON.ObjectId('5cbf68583025b12840664682').equals('5cbf68583025b12840664682')", "true"),
            (
                "BSON.ObjectId('5cbf68583025b12840664682').getTimestamp()",
                #"{"$date":{"$numberLong":"1556047960000"}}"#
            ),
            ("BSON.Binary.fromHex('6869').text()", #""hi""#),
            ("BSON.Binary.fromHex('6869', 5)", #"{"$binary":{"base64":"aGk=","subType":"05"}}"#),
            ("BSON.Binary.fromBase64('aGk')", "!TypeError: illegal base64 data: padding is due"),
            ("BSON.Binary.fromBase64('aGk=').toHex()", #""6869""#),
            (
                "[BSON.Int32(), BSON.Double(), BSON.Long()]",
                #"[{"$numberInt":"0"},{"$numberDouble":"0.0"},{"$numberLong":"0"}]"#
            ),
            ("BSON.Long(1, 2).toString()", #""8589934593""#),
            ("BSON.Long.fromString('9007199254740993').add(1)", #"{"$numberLong":"9007199254740994"}"#),
            ("BSON.BSONRegExp('a+', 'i')", #"{"$regularExpression":{"pattern":"a+","options":"i"}}"#),
            ("new BSON.UUID().toString().length", #"{"$numberInt":"36"}"#),
            ("BSON.Timestamp(1, 2)", #"{"$timestamp":{"t":1,"i":2}}"#),
            (
                "typeof BigInt + typeof Proxy + typeof Reflect + typeof WebAssembly",
                #""functionfunctionobjectundefined""#
            ),
        ]
    )
    func vectors(expression: String, answer: String) async {
        #expect(await ScriptFixture.text("exports = () => (\(expression))") == answer)
    }

    @Test(
        "sign and check tokens",
        arguments: [
            ("utils.jwt.decode('\(token)', 'SuperSecret').name", #""Joe Schmoe""#),
            ("utils.jwt.decode('\(token)', 'SuperSecret', true).header", #"{"alg":"HS512","typ":"JWT"}"#),
            ("utils.jwt.decode('\(token)', 'Wrong')", "!signature is invalid"),
            (
                "utils.jwt.decode('\(token)', 'SuperSecret', false, ['HS256'])",
                "!signing method HS512 is not accepted"
            ),
            ("utils.jwt.decode('a.b', 'x')", "!the token is malformed"),
            ("utils.jwt.encode('none', {}, 's')", "!TypeError: signing method 'none' is not supported"),
            (
                "utils.jwt.decode(utils.jwt.encode('HS256', {a: 1}, 's', {kid: 'k'}), 's', true)",
                #"{"header":{"alg":"HS256","typ":"JWT","kid":"k"},"payload":{"a":{"$numberInt":"1"}}}"#
            ),
            (
                "utils.jwt.decode(utils.jwt.encode('HS256', {a: 1}, '-----BEGIN PUBLIC KEY-----'), '-----BEGIN PUBLIC KEY-----')",
                "!signing method HS256 does not go with a public key"
            ),
            ("utils.jwt.decode(utils.jwt.encode('HS256', {exp: 1}, 's'), 's')", "!token is expired"),
        ]
    )
    func tokens(expression: String, answer: String) async {
        #expect(await ScriptFixture.text("exports = () => (\(expression))") == answer)
    }

    @Test(
        "sign with keys of each kind",
        arguments: [("RS256", TestKeys.rsa), ("PS384", TestKeys.rsa), ("ES256", TestKeys.p256)]
    )
    func keys(method: String, pair: (secret: String, known: String)) async {
        let source = """
            exports = (secret, known) => {
              const token = utils.jwt.encode('\(method)', {a: 1}, secret);
              const changed = token.replace(/^[^.]*/, utils.jwt.encode('\(method)', {a: 2}, secret).split('.')[0] + 'A');
              return [utils.jwt.decode(token, known).a, token.split('.').length];
            }
            """
        #expect(
            await ScriptFixture.text(source, .string(pair.secret), .string(pair.known))
                == #"[{"$numberInt":"1"},{"$numberInt":"3"}]"#
        )
    }

    @Test("sign and verify with RSA")
    func rsa() async {
        let source = """
            exports = (secret, known) => ['pss', 'pkcs1v15'].map((scheme) => {
              const signature = utils.crypto.sign('rsa', 'hello', secret, scheme);
              return [utils.crypto.verify('rsa', 'hello', known, signature, scheme),
                utils.crypto.verify('rsa', 'other', known, signature, scheme)];
            })
            """
        #expect(
            await ScriptFixture.text(source, .string(TestKeys.rsa.secret), .string(TestKeys.rsa.known))
                == "[[true,false],[true,false]]"
        )
    }

    @Test("run timers in the order of their times, and intervals until they are cleared")
    func timers() async {
        let source = """
            exports = async () => {
              const seen = [];
              setTimeout(() => seen.push('b'), 400); setTimeout(() => seen.push('a'), 200); setImmediate(() => seen.push('now'));
              clearTimeout(setTimeout(() => seen.push('never'), 1));
              let n = 0;
              await new Promise((done) => { const i = setInterval(() => { if (++n === 3) { clearInterval(i); done() } }, 200) });
              return [seen, n];
            }
            """
        // So far apart that a busy machine does not set one when another is due.
        #expect(await ScriptFixture.text(source) == #"[["now","a","b"],{"$numberInt":"3"}]"#)
    }
}
