/// Every code that tidegate answers with, grouped by the stage that raises it.
///
/// The raw value is what stands in `error_code` on the wire: the names that the client SDKs know
/// (`realm-core` `src/realm/error_codes.cpp`). A retired code stays here as a comment.
public enum ErrorCode: String, Sendable, CaseIterable {
    // Authenticate
    case missingAuthReq = "MissingAuthReq"
    case invalidSession = "InvalidSession"
    case userAppDomainMismatch = "UserAppDomainMismatch"
    case authError = "AuthError"
    case authProviderNotFound = "AuthProviderNotFound"
    case invalidPassword = "InvalidPassword"
    case userDisabled = "UserDisabled"
    case userNotFound = "UserNotFound"
    case accountNameInUse = "AccountNameInUse"
    case userAlreadyConfirmed = "UserAlreadyConfirmed"
    case userpassTokenInvalid = "UserpassTokenInvalid"
    case apiKeyAlreadyExists = "APIKeyAlreadyExists"
    case apiKeyNotFound = "APIKeyNotFound"
    /// Stays out of the body: the hosted service sent none.
    case apiKeyInUse = "APIKeyInUse"
    case restrictedHost = "RestrictedHost"
    case domainNotAllowed = "DomainNotAllowed"
    case incomingWebhookAuthFailed = "IncomingWebhookAuthFailed"
    case tooManyRequests = "TooManyRequests"

    // Parse
    case badRequest = "BadRequest"
    case invalidParameter = "InvalidParameter"
    case missingParameter = "MissingParameter"
    case readSizeLimitExceeded = "ReadSizeLimitExceeded"
    /// The `Idempotency-Key` came before with another request.
    case idempotencyKeyReused = "IdempotencyKeyReused"
    /// The request with this `Idempotency-Key` is under way.
    case idempotencyKeyInUse = "IdempotencyKeyInUse"

    // Authorize
    case noMatchingRuleFound = "NoMatchingRuleFound"

    // Plan and write
    case schemaValidationFailedWrite = "SchemaValidationFailedWrite"
    case serviceNotFound = "ServiceNotFound"
    case serviceCommandNotFound = "ServiceCommandNotFound"
    case appNotFound = "AppNotFound"
    case endpointNotFound = "EndpointNotFound"

    // Execute
    case mongoDBError = "MongoDBError"
    case executionTimeLimitExceeded = "ExecutionTimeLimitExceeded"

    // Functions
    case functionNotFound = "FunctionNotFound"
    case functionExecutionError = "FunctionExecutionError"
    case functionSyntaxError = "FunctionSyntaxError"

    // Command line and administration; never on the wire
    case invalidAppDefinition = "InvalidAppDefinition"
    case invalidSetting = "InvalidSetting"
    case migrationDrift = "MigrationDrift"

    // Inside
    case internalServerError = "InternalServerError"
    case maintenanceInProgress = "MaintenanceInProgress"
}
