import Errors
import Postgres
import Testing

/// What errors say in logs.
@Suite("Errors in logs")
struct LogTextTests {
    @Test("show an ellipsis for what was interpolated, unless it is marked as known")
    func template() {
        let inner = ServiceError(.invalidParameter, "unexpected '\("x")' at \(7)")
        let error = ServiceError.mongo(.badValue, "bad value: \(inner.sentence) of " + "\(known: "$push")")
        #expect(error.message == "bad value: unexpected 'x' at 7 of $push")
        #expect(error.logText == "bad value: unexpected '…' at … of $push")
    }

    private struct Foreign: Error, CustomStringConvertible {
        let description = "the password was swordfish"
    }

    @Test("say of a cause what it says for logs itself, and of a foreign one its type alone")
    func causes() {
        let denied = ServiceError(.internalServerError, "failed", cause: Foreign())
        #expect(denied.logText.hasPrefix("failed: "))
        #expect(!denied.logText.contains("swordfish"))
        let nested = ServiceError(.badRequest, "outside", cause: ServiceError(.authError, "inside \(1)"))
        #expect(nested.logText == "outside: AuthError: inside …")
    }

    @Test(
        "keep SQLSTATE, constraint and table of a server's message, and nothing that it quotes",
        arguments: [
            ("invalid input syntax for type json: \"a\"b\"", "invalid input syntax for type json: \"…\""),
            ("division by zero", "division by zero"), ("torn \"", "torn \""),
        ]
    )
    func server(message: String, expected: String) {
        let failure = PostgresFailure(
            sqlState: SQLState("22P02"),
            message: message,
            detail: "Key (email)=(a@b) exists",
            constraint: "unique_email",
            schema: "todo",
            table: "Item"
        )
        #expect(
            failure.logText == "SQLSTATE 22P02: \(expected) (constraint unique_email) (table todo.Item)"
        )
    }
}
