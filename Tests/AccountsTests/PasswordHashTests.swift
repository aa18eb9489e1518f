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
