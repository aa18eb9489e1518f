public import BSON
public import Errors

/// Email and password: what may be registered, and what the user's data says.
public enum EmailPasswordProvider {
    /// Checks what a registration asks for.
    ///
    /// The email is a name that mail might reach: something on both sides of one `@`, no blanks or
    /// controls, at most 320 bytes. It is kept as it is written; case counts.
    /// - Throws: ``ServiceError`` `badRequest` with the texts of `reference/client-api.md` §11.
    public static func checkRegistration(email: String, password: String) throws(ServiceError) {
        guard isEmail(email) else { throw AccountFailure.emailInvalid }
        guard isPassword(password) else { throw AccountFailure.passwordLength }
    }

    static func isEmail(_ email: String) -> Bool {
        guard (3...320).contains(email.utf8.count),
            email.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }),
            let at = email.lastIndex(of: "@"), email.firstIndex(of: "@") == at
        else { return false }
        return at != email.startIndex && email.index(after: at) != email.endIndex
    }

    /// 6 to 128 characters, counted as Unicode scalars.
    static func isPassword(_ password: String) -> Bool {
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
