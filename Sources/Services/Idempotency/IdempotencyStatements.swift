import SQL

/// All SQL about idempotency keys.
enum IdempotencyStatements {
    /// `state`, `status`, `content_type`, `answer`.
    static func claim(_ key: IdempotencyKey) -> SQLFragment {
        """
        SELECT * FROM tidegate.claim_idempotency_key(\(bind: .text(key.app)), \(bind: .text(key.user)),
            \(bind: .text(key.name)), \(bind: .bytes(key.fingerprint)))
        """
    }

    static func remember(_ answer: RememberedAnswer, _ key: IdempotencyKey) -> SQLFragment {
        """
        SELECT tidegate.remember_answer(\(bind: .text(key.app)), \(bind: .text(key.user)),
            \(bind: .text(key.name)), \(bind: .bytes(key.fingerprint)),
            \(bind: .int4(Int32(clamping: answer.status))), \(bind: .text(answer.contentType)),
            \(bind: .text(String(decoding: answer.body, as: UTF8.self))))
        """
    }

    /// Forgets what is older than 24 hours.
    static let trim: SQLFragment = "SELECT tidegate.trim_idempotency_keys()"
}
