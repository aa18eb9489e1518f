import Errors
import Logging

extension Observation {
    /// Writes the observation as one structured line.
    ///
    /// Requests log at `debug` unless they failed inside, so that a busy gateway's log stays readable; the
    /// door's access log is a setting of its own.
    func write(to logger: Logger) {
        switch self {
        case .requestStarted: break
        case .requestFinished(let record), .runFinished(let record):
            logger.log(
                level: record.status >= 500 ? .warning : .debug,
                "request finished",
                metadata: [
                    "method": .string(record.method), "route": .string(record.route),
                    "status": .stringConvertible(record.status), "ms": .milliseconds(record.duration),
                    "request_id": .string(record.requestID),
                ]
            )
        case .internalError(let error, let requestID):
            var metadata: Logger.Metadata = [
                "code": .string(error.code.rawValue), "message": .string(error.sentence.logText),
            ]
            if let requestID { metadata["request_id"] = .string(requestID) }
            if let cause = error.causeText { metadata["cause"] = .string(cause) }
            logger.error("internal error", metadata: metadata)
        case .slowStatement(let sql, let duration):
            logger.warning(
                "slow statement",
                metadata: ["sql": .statement(sql), "ms": .milliseconds(duration)]
            )
        case .unmappedSQLState(let state, let message):
            logger.error(
                "unmapped SQLSTATE",
                metadata: ["sqlstate": .string(state), "message": .string(message)]
            )
        case .connectionOpened(let connections):
            logger.debug(
                "database connection opened",
                metadata: ["connections": .stringConvertible(connections)]
            )
        case .connectionLost(let reason):
            logger.warning("database connection lost", metadata: ["reason": .string(reason)])
        case .connectFailed(let reason, let attempt, let retryIn):
            logger.error(
                "database connection failed",
                metadata: [
                    "reason": .string(reason), "attempt": .stringConvertible(attempt),
                    "retry_ms": .milliseconds(retryIn),
                ]
            )
        case .listening(let channels):
            logger.debug(
                "listening for notifications",
                metadata: ["channels": .array(channels.map { .string($0) })]
            )
        case .poolExhausted(let waiting, let connections):
            logger.warning(
                "no database connection free",
                metadata: [
                    "waiting": .stringConvertible(waiting), "connections": .stringConvertible(connections),
                ]
            )
        case .statementCancelled(let sql):
            logger.info("statement cancelled", metadata: ["sql": .statement(sql)])
        case .databaseNotice(let text):
            logger.debug("database notice", metadata: ["message": .string(text)])
        case .migrationApplied(let number, let name, let duration):
            logger.notice(
                "migration applied",
                metadata: [
                    "number": .stringConvertible(number), "name": .string(name),
                    "ms": .milliseconds(duration),
                ]
            )
        case .configurationReloaded(let app, let version):
            logger.notice(
                "configuration reloaded",
                metadata: ["app": .string(app), "version": .string(version)]
            )
        case .configurationRefused(let app, let reason):
            logger.error("configuration refused", metadata: ["app": .string(app), "reason": .string(reason)])
        case .logRowsDropped(let rows, let loss, let isNews):
            logger.log(
                level: isNews ? .warning : .debug,
                "rows of the request log dropped",
                metadata: ["rows": .stringConvertible(rows), "reason": .string(loss.rawValue)]
            )
        case .lifecycle(let part, let event):
            logger.info("lifecycle", metadata: ["part": .string(part), "event": .string(event)])
        }
    }
}

extension Logger.MetadataValue {
    /// A statement's text; a caller's large filter makes a large one, of which the beginning says enough.
    fileprivate static func statement(_ sql: String) -> Self {
        let shown = sql.utf8.prefix(2000)
        return .string(shown.count < sql.utf8.count ? "\(String(decoding: shown, as: UTF8.self))…" : sql)
    }

    /// A duration as milliseconds with three decimals at most.
    fileprivate static func milliseconds(_ duration: Duration) -> Self {
        let microseconds = duration / .microseconds(1)
        return .stringConvertible((microseconds.rounded()) / 1000)
    }
}
