public import BSON
public import Errors

/// Email and password: what may be registered, and what the user's data says.
public enum EmailPasswordProvider {
    /// Checks what a registration asks for.
    ///
    /// The email is a name that mail might reach: something on both sides of one `@`, no blanks,
    /// controls or separators, at most 320 bytes. It is kept as it is written; case counts.
    /// - Throws: ``ServiceError`` `badRequest` with the texts of `reference/client-api.md` §11.
    public static func checkRegistration(email: String, password: String) throws(ServiceError) {
        guard isEmail(email) else { throw AccountFailure.emailInvalid }
        guard isPassword(password) else { throw AccountFailure.passwordLength }
    }

    static func isEmail(_ email: String) -> Bool {
        guard (3...320).contains(email.utf8.count),
            email.unicodeScalars.allSatisfy({
                $0.value > 0x20 && !(0x7F...0xA0).contains($0.value) && !Self.isSeparator($0)
            }),
            let at = email.lastIndex(of: "@"), email.firstIndex(of: "@") == at
        else { return false }
        return at != email.startIndex && email.index(after: at) != email.endIndex
    }

    /// What would end an address in a mail's header or in a command to its server, or turn the line around.
    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F: true
        default: "\"<>()[],;:\\".unicodeScalars.contains(scalar)
        }
    }

    /// 6 to 128 characters, counted as Unicode scalars.
    public static func isPassword(_ password: String) -> Bool {
        (6...128).contains(password.unicodeScalars.count)
    }

    /// What a login may try: anything a stored name or password could be.
    ///
    /// Longer ones are refused before any work is spent on them.
    public static func isPlausible(username: String, password: String) -> Bool {
        username.utf8.count <= 320 && !username.utf8.contains(0) && password.utf8.count <= 512
    }

    /// `{ email }`.
    public static func data(username: String) -> BSONDocument {
        ["email": .string(username)]
    }
}
