import Errors
import HTTPTypes

extension ErrorCode {
    /// The one table from code to status.
    ///
    /// Source: data-api.md §7, client-api.md §§3, 6, 11.
    ///
    /// 401 stands for token and credential problems alone: `realm-web` refreshes and repeats without
    /// end on any other (client-api.md §6.4).
    var status: HTTPResponse.Status {
        switch self {
        case .missingAuthReq, .invalidSession, .userAppDomainMismatch, .authError, .invalidPassword,
            .userDisabled, .incomingWebhookAuthFailed:
            .unauthorized
        case .authProviderNotFound, .userNotFound, .appNotFound, .endpointNotFound, .functionNotFound,
            .apiKeyNotFound:
            .notFound
        case .accountNameInUse, .apiKeyAlreadyExists, .idempotencyKeyReused, .idempotencyKeyInUse: .conflict
        case .restrictedHost, .domainNotAllowed, .noMatchingRuleFound, .apiKeyInUse: .forbidden
        case .tooManyRequests: .tooManyRequests
        case .readSizeLimitExceeded: .contentTooLarge
        case .badRequest, .invalidParameter, .missingParameter, .mongoDBError,
            .schemaValidationFailedWrite, .serviceNotFound, .serviceCommandNotFound,
            .executionTimeLimitExceeded, .functionExecutionError, .functionSyntaxError,
            .userAlreadyConfirmed, .userpassTokenInvalid:
            .badRequest
        case .maintenanceInProgress: .serviceUnavailable
        case .internalServerError, .invalidAppDefinition, .invalidSetting, .migrationDrift:
            .internalServerError
        }
    }

    /// Whether `error_code` and `link` stay out of the body, as clients have seen it.
    var isBare: Bool {
        switch self {
        case .appNotFound, .apiKeyInUse: true
        default: false
        }
    }
}
