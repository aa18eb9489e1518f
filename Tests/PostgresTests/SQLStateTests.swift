import Errors
import Testing

@testable import Postgres

@Suite("SQLSTATE → error code")
struct SQLStateTests {
    @Test(
        "says what callers see",
        arguments: [
            ("23505", ErrorCode.mongoDBError, 11000), ("57014", .executionTimeLimitExceeded, 50),
            ("40001", .mongoDBError, 112), ("40P01", .mongoDBError, 112), ("22021", .invalidParameter, nil),
            ("22P05", .invalidParameter, nil), ("53300", .maintenanceInProgress, nil),
            ("08006", .maintenanceInProgress, nil), ("57P01", .maintenanceInProgress, nil),
            ("57P03", .maintenanceInProgress, nil), ("42601", .internalServerError, nil),
            ("XX000", .internalServerError, nil),
        ] as [(String, ErrorCode, Int?)]
    )
    func translates(state: String, code: ErrorCode, number: Int?) {
        let failure = PostgresFailure(sqlState: SQLState(state), message: "secret text")
        #expect(failure.serviceError.code == code)
        #expect(failure.serviceError.serverCode?.number == number)
        #expect(!failure.serviceError.message.contains("secret"))
        #expect(failure.serviceError.postgresFailure == failure)
    }

    @Test("passes on what tidegate's own functions say")
    func passesOn() {
        let failure = PostgresFailure(sqlState: .raiseException, message: "no app \"x\"")
        #expect(failure.serviceError.code == .invalidParameter)
        #expect(failure.serviceError.message == "no app \"x\"")
    }

    @Test(
        "knows what is worth another attempt",
        arguments: [("40001", true), ("40P01", true), ("23505", false), ("57014", false), ("26000", true)]
    )
    func knowsRetryable(state: String, isRetryable: Bool) {
        #expect(PostgresFailure(sqlState: SQLState(state), message: "").isRetryable == isRetryable)
    }
}
