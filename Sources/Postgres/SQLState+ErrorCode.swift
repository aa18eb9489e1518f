public import Errors

extension SQLState {
    /// What one SQLSTATE becomes: code, MongoDB's number where it has one, and a sentence for any caller.
    struct Translation: Sendable {
        let code: ErrorCode
        let serverCode: ServerErrorCode?
        /// Nil: the server's own message is the sentence, since it is tidegate's functions that wrote it.
        let message: ErrorMessage?
    }

    /// The one table from SQLSTATE to error code; nil for what is not foreseen.
    ///
    /// A statement that can say more (which key is duplicate, which constraint is broken) catches the error
    /// and looks at its `cause`.
    var translation: Translation? {
        switch code {
        case "23505":
            Translation(code: .mongoDBError, serverCode: .duplicateKey, message: "E11000 duplicate key error")
        case "57014":
            Translation(
                code: .executionTimeLimitExceeded,
                serverCode: .maxTimeMSExpired,
                message: "operation exceeded time limit"
            )
        case "40001", "40P01":
            Translation(
                code: .mongoDBError,
                serverCode: .writeConflict,
                message: "WriteConflict error: this operation conflicted with another operation. "
                    + "Please retry your operation or multi-document transaction."
            )
        case "55P03":
            Translation(
                code: .maintenanceInProgress,
                serverCode: nil,
                message: "the data is locked; try again"
            )
        // Text that PostgreSQL cannot hold: NUL, unpaired surrogates, bytes that are not UTF-8.
        case "22021", "22P05":
            Translation(
                code: .invalidParameter,
                serverCode: nil,
                message: "text holds characters that cannot be stored"
            )
        case "22P02", "22P03", "22032", "22023":
            Translation(code: .invalidParameter, serverCode: nil, message: "a value is malformed")
        case "22003", "22008", "22015":
            Translation(
                code: .invalidParameter,
                serverCode: nil,
                message: "a value is out of range"
            )
        case "22012":
            Translation(code: .mongoDBError, serverCode: .badValue, message: "can't $divide by zero")
        case "2201B":
            Translation(
                code: .mongoDBError,
                serverCode: ServerErrorCode(51091),
                message: "Regular expression is invalid"
            )
        case "54000", "54001", "54011", "54023":
            Translation(
                code: .invalidParameter,
                serverCode: nil,
                message: "the operation is too large or too complex"
            )
        // What tidegate.refuse_document says of a document that its relation has no place for.
        case "TG121":
            Translation(code: .mongoDBError, serverCode: .documentValidationFailure, message: nil)
        // What the constraints of a relation refuse.
        case "22001", "23502", "23503", "23514":
            Translation(
                code: .mongoDBError,
                serverCode: .documentValidationFailure,
                message: "Document failed validation: a constraint of its relation refuses it"
            )
        case "P0001":
            Translation(code: .invalidParameter, serverCode: nil, message: nil)
        case "57P01", "57P02", "57P03", "57P04", "57P05", "25P03":
            Translation(
                code: .maintenanceInProgress,
                serverCode: nil,
                message: "the database ended the connection; try again"
            )
        case "25006":
            Translation(
                code: .maintenanceInProgress,
                serverCode: nil,
                message: "the database accepts no writes now"
            )
        default:
            switch category {
            case "08":
                Translation(
                    code: .maintenanceInProgress,
                    serverCode: nil,
                    message: "the connection to the database was lost; try again"
                )
            case "53":
                Translation(
                    code: .maintenanceInProgress,
                    serverCode: nil,
                    message: "the database is out of resources; try again"
                )
            default: nil
            }
        }
    }
}

extension PostgresFailure {
    /// The error that callers see, with this failure as its cause.
    var serviceError: ServiceError {
        guard let translation = sqlState.translation else {
            return ServiceError(.internalServerError, "the database refused a statement", cause: self)
        }
        return ServiceError(
            translation.code,
            translation.message ?? "\(message)",
            serverCode: translation.serverCode,
            cause: self
        )
    }
}

extension ServiceError {
    /// The server's own report, when the error came from PostgreSQL.
    public var postgresFailure: PostgresFailure? { cause as? PostgresFailure }
}
