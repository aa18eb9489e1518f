import CryptoExtras
import Foundation
import Testing

@testable import Accounts

@Suite("Password hashes")
struct PasswordHashTests {
    static let cheap = PasswordHash.Cost(logN: 4, r: 1, p: 1)

    struct Vector: Sendable, CustomTestStringConvertible {
        let text: String
        let password: String
        var testDescription: String { "\(text.prefix(24)) of '\(password)'" }

        init(_ parameters: String, salt: String, key: String, password: String) {
            let bytes = stride(from: 0, to: key.count, by: 2).map { index -> UInt8 in
                let start = key.index(key.startIndex, offsetBy: index)
                return UInt8(key[start..<key.index(start, offsetBy: 2)], radix: 16) ?? 0
            }
            text = "$\(parameters)$\(Base64.encode(Array(salt.utf8)))$\(Base64.encode(bytes))"
            self.password = password
        }
    }

    /// RFC 7914 §12 without the empty salt and the vector of one gigabyte, and §11 for PBKDF2.
    static let vectors = [
        Vector(
            "scrypt$ln=10,r=8,p=16",
            salt: "NaCl0000",
            key: scryptOfNaCl0000,
            password: "password"
        ),
        Vector(
            "scrypt$ln=14,r=8,p=1",
            salt: "SodiumChloride",
            key: "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887",
            password: "pleaseletmein"
        ),
        Vector(
            "pbkdf2-sha256$i=1",
            salt: "saltsalt",
            key: pbkdf2OfSaltsalt,
            password: "passwd"
        ),
    ]

    /// The RFC's salts "NaCl" and "salt" are shorter than a stored salt may be; these were computed with
    /// Python's hashlib for the same parameters and passwords.
    static let scryptOfNaCl0000 =
        "95cd6769bdca0d398e1a56d63a1d31a46b082aa487d85857deb4868ebac19cf8"
        + "ee850f3c06943c98a21916c9c363c1793cc1ccad7c69d2cac046a2a678204275"
    static let pbkdf2OfSaltsalt =
        "94398fe91b85307f185a879f884a2ae1e4ea297415e4e7a9d2fa22c6a327a41c"
        + "c04e0434d4f60077d4a111cdba6715b98e48ed08948a56c23a73b88126e3010d"

    /// From crypt_blowfish's own tests, and one of SHA-512 that Python's hashlib made.
    static let foreign = [
        ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
        ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*"),
        (
            "$pbkdf2-sha512$i=1000$c2FsdHNhbHQxMjM0NTY3OA$ASLHOzwSyZ7TK34BeZz0PUCWcqOW0SsjhwL7B0Ktlk7DZ73xx+dOwGz8ZImNA43343ecOfmyNDIiiNs7BG71ow",
            "correct horse"
        ),
    ]

    @Test("it verifies what other servers stored, and wants better", arguments: foreign)
    func verifiesForeign(text: String, password: String) throws {
        let hash = try #require(PasswordHash(text: text))
        #expect(hash.verify(password))
        #expect(!hash.verify(password + "x"))
        // libcrypt ends a password at a NUL; HMAC pads with it, so that the others cannot tell.
        #expect(!hash.verify(password + "\u{0}x"))
        #expect(!hash.verify("\u{0}" + password))
        #expect(!hash.verify(""))
        #expect(hash.needsRehash(cost: .standard))
        #expect(hash.text == text)
    }

    @Test(
        "it reads no bcrypt of a cost that nobody would pay, nor other kinds",
        arguments: [
            "$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "$2b$05$short",
            "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "$none$", "$6$salt$hash",
            "$1$a$b",
            "$argon2id$v=19$m=1$x$y",
        ]
    )
    func refusesForeign(text: String) {
        #expect(PasswordHash(text: text) == nil)
    }

    @Test("it verifies published vectors", arguments: vectors)
    func verifies(_ vector: Vector) throws {
        let hash = try #require(PasswordHash(text: vector.text))
        #expect(hash.verify(vector.password))
        #expect(!hash.verify(vector.password + " "))
        #expect(hash.text == vector.text)
    }

    @Test("it agrees with the vectors of RFC 7914 §12 that have short salts")
    func shortSalts() throws {
        let key = try KDF.Scrypt.deriveKey(
            from: Array("password".utf8),
            salt: Array("NaCl".utf8),
            outputByteCount: 64,
            rounds: 1024,
            blockSize: 8,
            parallelism: 16
        )
        let hex = key.withUnsafeBytes { $0.map { String(format: "%02x", $0) }.joined() }
        #expect(
            hex == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
        )
    }

    @Test("it reads back what it wrote and accepts that password alone")
    func roundTrip() throws {
        let hash = try #require(
            PasswordHash(password: "pässwörd\u{0}x", salt: Array(0..<16), cost: Self.cheap)
        )
        let read = try #require(PasswordHash(text: hash.text))
        #expect(read.verify("pässwörd\u{0}x"))
        #expect(!read.verify("pässwörd"))
        #expect(!read.verify(""))
        #expect(!read.needsRehash(cost: Self.cheap))
        #expect(read.needsRehash(cost: .standard))
    }

    @Test(
        "it refuses a stored text that is none or costs too much",
        arguments: [
            "", "$", "secret", "$scrypt$ln=17,r=8,p=1$AAAAAAAAAAA$",
            "$scrypt$ln=40,r=8,p=1$AAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=17,r=8$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=4,ln=4,r=8,p=1$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=-4,r=8,p=1$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
            "$pbkdf2-sha256$i=0$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
            "$pbkdf2-sha256$i=999999999$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
            "$pbkdf2-sha256$i=4096$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAA=",
            "$md5$i=1$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
        ]
    )
    func refusesText(_ text: String) {
        #expect(PasswordHash(text: text) == nil)
    }
}
