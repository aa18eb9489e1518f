import CCrypt
import Crypto
import CryptoExtras

/// A password as it is stored: algorithm, parameters, salt and key in one text.
///
/// Shape: `$scrypt$ln=17,r=8,p=1$<salt>$<key>` and `$pbkdf2-sha256$i=40000$<salt>$<key>`, base64
/// without padding. The second form is what `tidegate.create_user` writes, since PL/pgSQL has no scrypt;
/// `$pbkdf2-sha512$…` and bcrypt (`$2b$10$…`) come with users of other servers.
/// ``needsRehash(cost:)`` tells the service to replace them at the next login.
///
/// Work is deliberate: a scrypt of the standard cost takes 128 MiB and some tenths of a second. Call
/// these off the event loops. Source: OWASP Password Storage Cheat Sheet; RFC 7914; RFC 8018.
public struct PasswordHash: Sendable, Hashable {
    /// How dear a scrypt is.
    public struct Cost: Sendable, Hashable {
        /// The base-2 logarithm of N.
        public let logN: Int
        /// Block size.
        public let r: Int
        /// Parallelism.
        public let p: Int

        /// Made of its parts.
        public init(logN: Int, r: Int, p: Int) {
            self.logN = logN
            self.r = r
            self.p = p
        }

        /// N = 2^17, r = 8, p = 1.
        public static let standard = Cost(logN: 17, r: 8, p: 1)
    }

    enum Algorithm: Sendable, Hashable {
        case scrypt(Cost)
        case pbkdf2(iterations: Int, isLong: Bool)
        /// The whole stored text, which is also what libcrypt takes as its setting.
        case bcrypt(String)
    }

    let algorithm: Algorithm
    let salt: [UInt8]
    let key: [UInt8]

    /// Hashes a password with scrypt.
    ///
    /// - Parameters:
    ///   - password: Taken as UTF-8, byte for byte, without normalising.
    ///   - salt: Sixteen random bytes.
    ///   - cost: How dear the hash is.
    public init?(password: String, salt: [UInt8], cost: Cost = .standard) {
        guard let key = Self.derive(.scrypt(cost), password: password, salt: salt, count: 32) else {
            return nil
        }
        algorithm = .scrypt(cost)
        self.salt = salt
        self.key = key
    }

    /// Reads a stored text; nil when it is none, or asks for more work than an honest one would.
    public init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0].isEmpty, ["2a", "2b", "2y"].contains(parts[1]), text.utf8.count == 60,
            let cost = Int(parts[2]), (4...14).contains(cost)
        {
            algorithm = .bcrypt(text)
            salt = []
            key = Array(text.utf8)
            return
        }
        guard parts.count == 5, parts[0].isEmpty, let salt = Base64.decode(parts[3]),
            let key = Base64.decode(parts[4]), (8...64).contains(salt.count), (16...64).contains(key.count),
            let parameters = Self.parameters(parts[2])
        else { return nil }
        switch parts[1] {
        case "scrypt":
            guard let logN = parameters["ln"], let r = parameters["r"], let p = parameters["p"],
                (1...20).contains(logN), (1...32).contains(r), (1...16).contains(p)
            else { return nil }
            algorithm = .scrypt(Cost(logN: logN, r: r, p: p))
        case "pbkdf2-sha256", "pbkdf2-sha512":
            guard let iterations = parameters["i"], (1...10_000_000).contains(iterations) else { return nil }
            algorithm = .pbkdf2(iterations: iterations, isLong: parts[1] == "pbkdf2-sha512")
        default: return nil
        }
        self.salt = salt
        self.key = key
    }

    /// The stored text.
    public var text: String {
        let head: String
        switch algorithm {
        case .scrypt(let cost): head = "$scrypt$ln=\(cost.logN),r=\(cost.r),p=\(cost.p)"
        case .pbkdf2(let iterations, let isLong):
            head = "$pbkdf2-sha\(isLong ? 512 : 256)$i=\(iterations)"
        case .bcrypt(let text): return text
        }
        return "\(head)$\(Base64.encode(salt))$\(Base64.encode(key))"
    }

    /// Whether a password is the one; the comparison's time does not depend on where they differ.
    public func verify(_ password: String) -> Bool {
        guard let other = Self.derive(algorithm, password: password, salt: salt, count: key.count) else {
            return false
        }
        return ConstantTime.equal(other, key)
    }

    /// Whether a login that succeeds should store a new hash.
    public func needsRehash(cost: Cost) -> Bool {
        algorithm != .scrypt(cost)
    }

    /// Whether checking this cost as much as a scrypt of the given cost; otherwise the service adds
    /// one, so that time does not tell kinds of account apart.
    public func worksAsHard(as cost: Cost) -> Bool {
        algorithm == .scrypt(cost)
    }

    private static func parameters(_ text: Substring) -> [Substring: Int]? {
        var parameters: [Substring: Int] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let equals = part.firstIndex(of: "=") else { return nil }
            let digits = part[part.index(after: equals)...]
            guard digits.utf8.count <= 9, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(digits), parameters.updateValue(number, forKey: part[..<equals]) == nil
            else { return nil }
        }
        return parameters
    }

    private static func derive(
        _ algorithm: Algorithm,
        password: String,
        salt: [UInt8],
        count: Int
    ) -> [UInt8]? {
        let bytes = Array(password.utf8)
        let key: SymmetricKey?
        switch algorithm {
        case .scrypt(let cost):
            key = try? KDF.Scrypt.deriveKey(
                from: bytes,
                salt: salt,
                outputByteCount: count,
                rounds: 1 << cost.logN,
                blockSize: cost.r,
                parallelism: cost.p
            )
        case .bcrypt(let setting): return bcrypt(password, setting)
        case .pbkdf2(let iterations, let isLong):
            key = try? KDF.Insecure.PBKDF2.deriveKey(
                from: bytes,
                salt: salt,
                using: isLong ? .sha512 : .sha256,
                outputByteCount: count,
                unsafeUncheckedRounds: iterations
            )
        }
        return key.map { key in key.withUnsafeBytes { Array($0) } }
    }

    /// libcrypt ends a password at its first NUL; such a one would be good with any ending.
    private static func bcrypt(_ password: String, _ setting: String) -> [UInt8]? {
        guard !password.utf8.contains(0) else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let hash = buffer.baseAddress, ccrypt_hash(password, setting, hash, buffer.count) == 1
            else { return nil }
            return Array(String(cString: hash).utf8)
        }
    }
}

/// Comparisons that do not tell by their time where two secrets differ.
enum ConstantTime {
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
