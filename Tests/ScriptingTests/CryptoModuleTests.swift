import BSON
import Scripting
import Testing

/// Ciphers and signatures of `require("crypto")` against what is published of them.
@Suite("The module crypto")
struct CryptoModuleTests {
    /// The four blocks of NIST SP 800-38A, appendix F.
    private static let blocks =
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"

    private static let keys = [
        128: "2b7e151628aed2a6abf7158809cf4f3c",
        192: "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        256: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
    ]

    /// SP 800-38A: F.2.1, F.2.3, F.2.5 and F.5.1, F.5.3, F.5.5.
    @Test(
        "seals and opens the blocks of NIST SP 800-38A, in one piece and in several",
        arguments: [
            (
                "aes-128-cbc",
                "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
                    + "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"
            ),
            (
                "aes-192-cbc",
                "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
                    + "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd"
            ),
            (
                "aes-256-cbc",
                "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
                    + "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"
            ),
            (
                "aes-128-ctr",
                "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
                    + "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"
            ),
            (
                "aes-192-ctr",
                "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
                    + "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"
            ),
            (
                "aes-256-ctr",
                "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
                    + "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
            ),
        ]
    )
    func blockModes(name: String, sealed: String) async throws {
        let key = try #require(Self.keys[Int(name.split(separator: "-")[1]) ?? 0])
        let vector =
            name.hasSuffix("cbc") ? "000102030405060708090a0b0c0d0e0f" : "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
        let source = """
            exports = (name, key, iv, plain, sealed) => {
              const { createCipheriv, createDecipheriv } = require('crypto');
              const hex = (text) => Buffer.from(text, 'hex');
              const run = (make, input, step) => {
                const work = make(name, hex(key), hex(iv)).setAutoPadding(false);
                let out = '';
                for (let at = 0; at < input.length; at += step) out += work.update(input.slice(at, at + step), 'hex', 'hex');
                return out + work.final('hex');
              };
              return [128, 32, 6].map((step) =>
                run(createCipheriv, plain, step) === sealed && run(createDecipheriv, sealed, step) === plain);
            };
            """
        let answer = await ScriptFixture.text(
            source,
            .string(name),
            .string(key),
            .string(vector),
            .string(Self.blocks),
            .string(sealed)
        )
        #expect(answer == "[true,true,true]")
    }

    /// “The Galois/Counter Mode of Operation”, test cases 4, 10 and 16, which NIST SP 800-38D refers to.
    @Test(
        "seals and opens the published cases of GCM, and opens no other tag",
        arguments: [
            (
                128,
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
                    + "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
                "5bc94fbc3221a5db94fae95ae7121a47"
            ),
            (
                192,
                "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
                    + "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
                "2519498e80f1478f37ba55bd6d27618c"
            ),
            (
                256,
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                    + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
                "76fc6ece0f4e1768cddf8853bb2d551b"
            ),
        ]
    )
    func galois(bits: Int, sealed: String, tag: String) async {
        let source = """
            exports = (bits, sealed, tag) => {
              const { createCipheriv, createDecipheriv } = require('crypto');
              const key = Buffer.from('feffe9928665731c6d6a8f9467308308'.repeat(2), 'hex').subarray(0, bits / 8);
              const iv = Buffer.from('cafebabefacedbaddecaf888', 'hex');
              const header = Buffer.from('feedfacedeadbeeffeedfacedeadbeefabaddad2', 'hex');
              const plain = 'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72'
                + '1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39';
              const name = 'aes-' + bits + '-gcm';
              const cipher = createCipheriv(name, key, iv).setAAD(header);
              const out = cipher.update(plain, 'hex', 'hex') + cipher.final('hex');
              const open = (given) => {
                const work = createDecipheriv(name, key, iv).setAAD(header).setAuthTag(Buffer.from(given, 'hex'));
                return work.update(sealed, 'hex', 'hex') + work.final('hex');
              };
              let refused = '';
              try { open('00' + tag.slice(2)) } catch (error) { refused = error.message }
              return [out === sealed, cipher.getAuthTag().toString('hex') === tag, open(tag) === plain, refused];
            };
            """
        let answer = await ScriptFixture.text(source, .int32(Int32(bits)), .string(sealed), .string(tag))
        #expect(answer == #"[true,true,true,"Unsupported state or unable to authenticate data"]"#)
    }

    /// PKCS#1 v1.5 has one signature for a key and a message: these are openssl's, as SHA-256 of their bytes.
    @Test(
        "signs with RSA as openssl does",
        arguments: [
            ("RSA-SHA1", "224d0b44531ed89efbbf9dcc267e39f9c91894892953449470c3430085d27980"),
            ("SHA256", "a94760483bacf5441fb516fba7ed07d55756fc70ef12ea40d98e9a8078a94153"),
            ("sha384", "d52802746188955351c46a38a76bdc781917582c5c8b3f33f6a388b0615b5fc0"),
            ("sha512WithRSAEncryption", "f7b3b2d4411f411d923d068c8db9ae4255430719fd6814be25df49ac6eb99a52"),
        ]
    )
    func signs(digest: String, hash: String) async {
        let source = """
            exports = (digest, secret, known) => {
              const crypto = require('crypto');
              const signature = crypto.createSign(digest).update('hel').update(Buffer.from('lo')).sign(secret);
              const check = (text, key, given) => crypto.createVerify(digest).update(text).verify(key, given, 'hex');
              return [crypto.createHash('sha256').update(signature).digest('hex'),
                check('hello', known, signature.toString('hex')), check('hallo', known, signature.toString('hex')),
                check('hello', secret, signature.toString('hex')), check('hello', known, '00'),
                crypto.verify(digest, 'hello', known, crypto.sign(digest, Buffer.from('hello'), secret))];
            };
            """
        let answer = await ScriptFixture.text(
            source,
            .string(digest),
            .string(TestKeys.rsa.secret),
            .string(TestKeys.rsa.known)
        )
        #expect(answer == #"["\#(hash)",true,false,true,false,true]"#)
    }

    /// RFC 6979, A.2.5 and A.2.6: “sample” with SHA-256 and SHA-384.
    @Test(
        "verifies the signatures of RFC 6979",
        arguments: [
            (
                "sha256",
                """
                -----BEGIN PUBLIC KEY-----
                MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7
                Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==
                -----END PUBLIC KEY-----
                """,
                "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
                    + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
            ),
            (
                "sha384",
                """
                -----BEGIN PUBLIC KEY-----
                MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE7DpOQVtOGaRWhhgCn0J/pdqai8SukuAu
                BqrlKGswDGTe+PDqkFWGYGSiVFFUgLwTgBXZty19VyROqO+awMYhiWcIpZNn+d+5
                9UyoSz8cnbEoiyMcOuDU/nNE/SUzJkcg
                -----END PUBLIC KEY-----
                """,
                "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46"
                    + "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8"
            ),
        ]
    )
    func curves(digest: String, key: String, signature: String) async {
        let source = """
            exports = (digest, key, signature) => {
              const { createVerify } = require('crypto');
              const check = (text, options) =>
                createVerify(digest).update(text).verify({ key, ...options }, Buffer.from(signature, 'hex'));
              return [check('sample', { dsaEncoding: 'ieee-p1363' }), check('simple', { dsaEncoding: 'ieee-p1363' }),
                check('sample', {})];
            };
            """
        let answer = await ScriptFixture.text(source, .string(digest), .string(key), .string(signature))
        #expect(answer == "[true,false,false]")
    }

    @Test(
        "signs with curves, and with PSS whose salt is as long as the digest",
        arguments: [
            ("secret, {}", "known, {}", "true"),
            ("curve, {}", "curve, {}", "true"),
            ("curve, {dsaEncoding: 'ieee-p1363'}", "curve, {dsaEncoding: 'ieee-p1363'}", "true"),
            ("curve, {dsaEncoding: 'ieee-p1363'}", "curve, {}", "false"),
            ("secret, {padding: 6}", "known, {padding: 6, saltLength: -1}", "true"),
            ("secret, {padding: 6, saltLength: 32}", "known, {padding: 6, saltLength: 32}", "true"),
            ("secret, {padding: 6}", "known, {}", "false"),
            (
                "secret, {padding: 6, saltLength: 20}", "known, {}",
                "!PSS is supported with saltLength: crypto.constants.RSA_PSS_SALTLEN_DIGEST alone"
            ),
            (
                "secret, {padding: 6}", "known, {padding: crypto.constants.RSA_PKCS1_PSS_PADDING}",
                "!PSS is supported with saltLength: crypto.constants.RSA_PSS_SALTLEN_DIGEST alone"
            ),
            (
                "known, {}", "known, {}",
                "!the private key cannot be read: it must be PEM, of RSA or a NIST curve"
            ),
            (
                "secret, {}", "'no', {}",
                "!the public key cannot be read: it must be PEM, of RSA or a NIST curve"
            ),
            ("secret, {passphrase: 'a'}", "known, {}", "!keys with a passphrase are not supported"),
            ("secret, {padding: 4}", "known, {}", "!the padding 4 is not supported"),
        ]
    )
    func forms(signing: String, verifying: String, answer: String) async {
        let source = """
            exports = (secret, known, curve) => {
              const crypto = require('crypto');
              const sign = (key, options) => crypto.createSign('sha256').update('hello').sign({ key, ...options });
              const verify = (key, options, signature) =>
                crypto.createVerify('sha256').update('hello').verify({ key, ...options }, signature);
              return verify(\(verifying), sign(\(signing)));
            };
            """
        let text = await ScriptFixture.text(
            source,
            .string(TestKeys.rsa.secret),
            .string(TestKeys.rsa.known),
            .string(TestKeys.p256.secret)
        )
        #expect(text == answer)
    }

    @Test("names what it does not know")
    func unknown() async {
        #expect(
            await ScriptFixture.text("exports = () => require('crypto').createSign('md4')")
                == "!Invalid digest: md4"
        )
        let again = """
            exports = (secret) => {
              const work = require('crypto').createSign('sha256').update('a');
              work.sign(secret);
              return work.sign(secret);
            };
            """
        #expect(
            await ScriptFixture.text(again, .string(TestKeys.rsa.secret))
                == "!Unsupported state: it was used already"
        )
    }
}
