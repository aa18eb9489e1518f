import BSON
import Foundation
import Scripting
import TestSupport
import Testing

/// `reference/functions.md` §§5.3 and 6, row by row.
@Suite("Tables of functions.md: §5.3 cursors, §6 globals")
struct GlobalTableTests {
    private func check(_ row: TableRow, sourceLocation: SourceLocation = #_sourceLocation) async {
        let source = """
            const c = context.services.get('mongodb-atlas').db('d').collection('c');
            exports = async () => (\(row.source));
            """
        let host = DataHost([["a": 1], ["a": 2], ["a": 3]])
        #expect(
            await ScriptFixture.text(source, host: host) == row.answer,
            sourceLocation: sourceLocation
        )
    }

    @Test(
        "§5.3 cursor of",
        arguments: [
            TableRow(
                "find: next(), undefined at the end",
                "await (async (x) => [(await x.next()).a, (await x.next()).a, (await x.next()).a, await x.next() === undefined])(c.find())",
                #"[{"$numberInt":"1"},{"$numberInt":"2"},{"$numberInt":"3"},true]"#
            ),
            TableRow(
                "find: toArray()",
                "(await c.find().toArray()).map((d) => d.a)",
                #"[{"$numberInt":"1"},{"$numberInt":"2"},{"$numberInt":"3"}]"#
            ),
            TableRow(
                "find: skip(n), limit(n), sort(doc)",
                "(await c.find().sort({ a: -1 }).skip(1).limit(1).toArray()).map((d) => d.a)",
                #"[{"$numberInt":"2"}]"#
            ),
            TableRow(
                "aggregate: next()",
                "await (async (x) => [(await x.next()).a, (await x.next()).a, (await x.next()).a, await x.next() === undefined])(c.aggregate([]))",
                #"[{"$numberInt":"1"},{"$numberInt":"2"},{"$numberInt":"3"},true]"#
            ),
            TableRow(
                "aggregate: toArray(), skip(n)",
                "(await c.aggregate([]).skip(0).toArray()).length",
                #"{"$numberInt":"3"}"#
            ),
            TableRow(
                "aggregate: no sort, no limit",
                "[typeof c.aggregate([]).sort, typeof c.aggregate([]).limit]",
                #"["undefined","undefined"]"#
            ),
            TableRow(
                "after the first next() skip, limit and sort are errors",
                "await (async () => { const out = []; for (const m of ['skip', 'limit', 'sort']) { const x = c.find(); await x.next(); try { x[m](m === 'sort' ? {} : 1) } catch (e) { out.push(e.message) } } return new Set(out).size + [...new Set(out)][0] })()",
                #""1cannot modify a cursor after it has been iterated""#
            ),
        ]
    )
    func cursors(row: TableRow) async { await check(row) }

    @Test(
        "§6.2 member",
        arguments: [
            TableRow(
                "BSON.ObjectId(id?)",
                "[BSON.ObjectId('5cbf68583025b12840664682'), new BSON.ObjectId('abcdefghijkl'), BSON.ObjectId().toHexString().length]",
                #"[{"$oid":"5cbf68583025b12840664682"},{"$oid":"6162636465666768696a6b6c"},{"$numberInt":"24"}]"#
            ),
            TableRow(
                "BSON.BSONRegExp(pattern, flags?)",
                "[BSON.BSONRegExp('a'), new BSON.BSONRegExp('a', 'i')]",
                #"[{"$regularExpression":{"pattern":"a","options":""}},{"$regularExpression":{"pattern":"a","options":"i"}}]"#
            ),
            TableRow(
                "BSON.Binary.fromHex(hex, subType = 0), .toHex()",
                "[BSON.Binary.fromHex('00ff'), BSON.Binary.fromHex('00ff', 3), BSON.Binary.fromHex('00ff').toHex()]",
                #"[{"$binary":{"base64":"AP8=","subType":"00"}},{"$binary":{"base64":"AP8=","subType":"03"}},"00ff"]"#
            ),
            TableRow(
                "BSON.Binary.fromBase64(b64, subType = 0), .toBase64()",
                "[BSON.Binary.fromBase64('AP8='), BSON.Binary.fromBase64('AP8=', 3), BSON.Binary.fromBase64('AP8=').toBase64()]",
                #"[{"$binary":{"base64":"AP8=","subType":"00"}},{"$binary":{"base64":"AP8=","subType":"03"}},"AP8="]"#
            ),
            TableRow(
                "BSON.Binary.fromBase64: input without padding is rejected",
                "BSON.Binary.fromBase64('AP8')",
                "!TypeError: illegal base64 data: padding is due"
            ),
            TableRow(
                "BSON.Binary.fromText(s); binary.text()",
                "BSON.Binary.fromText('hé').text()",
                #""hé""#
            ),
            TableRow(
                "BSON.MaxKey, BSON.MinKey",
                "[BSON.MaxKey, BSON.MinKey]",
                #"[{"$maxKey":1},{"$minKey":1}]"#
            ),
            TableRow(
                "BSON.Int32(n)",
                "[BSON.Int32(), new BSON.Int32(7)]",
                #"[{"$numberInt":"0"},{"$numberInt":"7"}]"#
            ),
            TableRow(
                "BSON.Long(low32, high32)",
                "[BSON.Long(), new BSON.Long(5, 1), BSON.Long(-1, -1)]",
                #"[{"$numberLong":"0"},{"$numberLong":"4294967301"},{"$numberLong":"-1"}]"#
            ),
            TableRow(
                "BSON.Double(n)",
                "[BSON.Double(), new BSON.Double(7)]",
                #"[{"$numberDouble":"0.0"},{"$numberDouble":"7.0"}]"#
            ),
            TableRow(
                "BSON.Decimal128.fromString(s)",
                "BSON.Decimal128.fromString('1.50')",
                #"{"$numberDecimal":"1.50"}"#
            ),
            TableRow(
                "BSON.UUID",
                "BSON.UUID('3b241101-e2bb-4255-8caf-4136c566a962')",
                #"{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}}"#
            ),
        ]
    )
    func bson(row: TableRow) async { await check(row) }

    @Test(
        "§6.1, §6.4 call",
        arguments: [
            TableRow(
                "EJSON.parse, EJSON.stringify (canonical)",
                #"EJSON.stringify(EJSON.parse('{"a":{"$numberLong":"42"},"b":{"$date":{"$numberLong":"5"}}}'))"#,
                #""{\"a\":{\"$numberLong\":\"42\"},\"b\":{\"$date\":{\"$numberLong\":\"5\"}}}""#
            ),
            TableRow(
                "JSON: a Date gives ISO text",
                "JSON.stringify(new Date(0))",
                #""\"1970-01-01T00:00:00.000Z\"""#
            ),
            TableRow(
                #"encrypt("aes", message, key), decrypt("aes", binary, key): keys of 16, 24, 32 bytes"#,
                "[16, 24, 32].map((n) => utils.crypto.decrypt('aes', utils.crypto.encrypt('aes', 'secret', 'k'.repeat(n)), 'k'.repeat(n)).text())",
                #"["secret","secret","secret"]"#
            ),
            TableRow(
                "encrypt: a fresh nonce each time, nonce and tag around the text",
                "(([a, b]) => [a === b, a.length])([0, 1].map(() => utils.crypto.encrypt('aes', 'secret', 'k'.repeat(16)).toHex()))",
                #"[false,{"$numberInt":"68"}]"#
            ),
            TableRow(
                #"hmac(input, secret, "sha1", "hex")"#,
                "utils.crypto.hmac('hello!', 'super-secret', 'sha1', 'hex').length",
                #"{"$numberInt":"40"}"#
            ),
            TableRow(
                #"hmac(input, secret, "sha256", "base64")"#,
                "utils.crypto.hmac('hello!', 'super-secret', 'sha256', 'base64')",
                #""SUXd6PRMaTXXgBGaGsIHzaDWgTSa6C3D44lRGrvRak0=""#
            ),
            TableRow(
                #"hmac(input, secret, "sha512", "hex")"#,
                "utils.crypto.hmac('hello!', 'super-secret', 'sha512', 'hex').length",
                #"{"$numberInt":"128"}"#
            ),
            TableRow(
                #"hash("sha1"|"sha256"|"md5", stringOrBinary)"#,
                "['sha1', 'sha256', 'md5'].map((n) => utils.crypto.hash(n, 'abc').toHex() === utils.crypto.hash(n, BSON.Binary.fromText('abc')).toHex() && utils.crypto.hash(n, 'abc').toHex())",
                #"["a9993e364706816aba3e25717850c26c9cd0d89d","ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","900150983cd24fb0d6963f7d28e17f72"]"#
            ),
        ]
    )
    func utils(row: TableRow) async { await check(row) }

    @Test("§6.4 sign, verify: pss is the scheme where none is named, and pkcs1v15 is another")
    func signing() async {
        let source = """
            exports = (secret, known) => {
              const signature = utils.crypto.sign('rsa', 'hello', secret);
              return [utils.crypto.verify('rsa', 'hello', known, signature, 'pss'), utils.crypto.verify('rsa', 'hello', known, signature),
                utils.crypto.verify('rsa', 'hello', known, signature, 'pkcs1v15'),
                utils.crypto.verify('rsa', 'hello', known, utils.crypto.sign('rsa', 'hello', secret, 'pkcs1v15'), 'pkcs1v15')];
            }
            """
        #expect(
            await ScriptFixture.text(source, .string(TestKeys.rsa.secret), .string(TestKeys.rsa.known))
                == "[true,true,false,true]"
        )
    }

    @Test(
        "§6.3 encode, decode: every signing method",
        arguments: [
            "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384",
            "ES512",
        ]
    )
    func methods(method: String) async throws {
        let (secret, known) = try Self.keys(method)
        let source = """
            exports = (secret, known) => {
              const token = utils.jwt.encode('\(method)', { a: 1 }, secret, { kid: 'k' });
              const { header, payload } = utils.jwt.decode(token, known, true, ['\(method)']);
              const [head, body, signature] = token.split('.');
              const other = utils.jwt.encode('\(method)', { a: 2 }, secret, { kid: 'k' }).split('.');
              let forged; try { forged = utils.jwt.decode(head + '.' + other[1] + '.' + signature, known) } catch (e) { forged = e.message }
              return [header, payload, utils.jwt.decode(token, known), forged];
            }
            """
        #expect(
            await ScriptFixture.text(source, .string(secret), .string(known))
                == #"[{"alg":"\#(method)","typ":"JWT","kid":"k"},{"a":{"$numberInt":"1"}},{"a":{"$numberInt":"1"}},"signature is invalid"]"#
        )
    }

    /// What signs and what checks, by the method's family.
    private static func keys(_ method: String) throws -> (secret: String, known: String) {
        switch method {
        case "ES256": return TestKeys.p256
        case "ES384": return try curve("P-384")
        case "ES512": return try curve("P-521")
        case let name where name.hasPrefix("HS"): return ("SuperSecret", "SuperSecret")
        default: return TestKeys.rsa
        }
    }

    private static func curve(_ name: String) throws -> (secret: String, known: String) {
        let openssl = URL(fileURLWithPath: "/usr/bin/openssl")
        let made = try Shell.run(
            openssl,
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(name)"]
        )
        let known = try Shell.run(openssl, ["pkey", "-pubout"], input: Data(made.output.utf8))
        return (made.output, known.output)
    }
}
