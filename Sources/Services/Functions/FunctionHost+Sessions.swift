import BSON
import Errors
import Synchronization

/// The sessions of one run.
struct FunctionSessions {
    /// A session, with its transaction while there is one.
    struct Session {
        var transaction: SessionTransaction?
        /// A transaction that is about to begin.
        var isBeginning = false
    }

    private var sessions: [Int64: Session] = [:]
    private var last: Int64 = 0
    /// As many as a function may have at once.
    static let most = 100

    /// Whether a transaction of the run is open or about to be.
    var holdsTransaction: Bool { sessions.values.contains { $0.transaction != nil || $0.isBeginning } }

    mutating func add() -> Int64? {
        guard sessions.count < Self.most else { return nil }
        last += 1
        sessions[last] = Session()
        return last
    }

    subscript(number: Int64) -> Session? {
        get { sessions[number] }
        set { sessions[number] = newValue }
    }

    /// Ends all; what is returned is to be rolled back.
    mutating func removeAll() -> [SessionTransaction] {
        defer { sessions = [:] }
        return sessions.values.compactMap(\.transaction)
    }
}

extension FunctionHost {
    /// A session that has not ended.
    func session(_ number: Int64) throws(ServiceError) -> FunctionSessions.Session {
        guard let session = sessions.withLock({ $0[number] }) else { throw Self.sessionEnded }
        return session
    }

    private static let sessionEnded = ServiceError.mongo(.illegalOperation, "the session has ended")
    private static let noTransaction = ServiceError.mongo(
        251,
        "no transaction is in progress in this session"
    )

    private func number(_ arguments: HostArguments) throws(ServiceError) -> Int64 {
        guard let number = arguments.session else { throw arguments.missing("session") }
        return number
    }

    func startSession(_ arguments: HostArguments) throws(ServiceError) -> BSONValue {
        try call.app.requireService(try arguments.text("service"))
        guard let number = sessions.withLock({ $0.add() }) else {
            throw ServiceError(
                .invalidParameter,
                "a function may have at most \(known: FunctionSessions.most) sessions at once"
            )
        }
        return .int64(number)
    }

    /// Begins a transaction; it is nothing but a promise of a connection until the first operation.
    func begin(_ arguments: HostArguments) async throws(ServiceError) -> BSONValue {
        let number = try number(arguments)
        let mayWait = try sessions.withLock { (sessions) throws(ServiceError) in
            guard var session = sessions[number] else { throw Self.sessionEnded }
            guard session.transaction == nil, !session.isBeginning else {
                throw ServiceError.mongo(.illegalOperation, "Transaction already in progress")
            }
            // Whoever holds a transaction must not wait for the place of another one.
            let holds = sessions.holdsTransaction || call.enclosing != nil
            session.isBeginning = true
            sessions[number] = session
            return !holds
        }
        let transaction: SessionTransaction
        do throws(ServiceError) {
            transaction = try await SessionTransaction.begin(
                in: service.data.database,
                service.places,
                app: call.app.id,
                mayWait: mayWait,
                deadline: call.deadline
            )
        } catch {
            sessions.withLock { $0[number]?.isBeginning = false }
            throw error
        }
        let isStillThere = sessions.withLock { sessions in
            guard sessions[number] != nil else { return false }
            sessions[number] = FunctionSessions.Session(transaction: transaction)
            return true
        }
        guard isStillThere else {
            await transaction.rollback()
            throw Self.sessionEnded
        }
        return .null
    }

    func commit(_ arguments: HostArguments) async throws(ServiceError) -> BSONValue {
        guard let transaction = try take(try number(arguments)) else { throw Self.noTransaction }
        try await transaction.commit()
        return .null
    }

    func abort(_ arguments: HostArguments) async throws(ServiceError) -> BSONValue {
        guard let transaction = try take(try number(arguments)) else { throw Self.noTransaction }
        await transaction.rollback()
        return .null
    }

    func endSession(_ arguments: HostArguments) async throws(ServiceError) -> BSONValue {
        let number = try number(arguments)
        let session = sessions.withLock { sessions in
            defer { sessions[number] = nil }
            return sessions[number]
        }
        await session?.transaction?.rollback()
        return .null
    }

    /// Takes a session's transaction out, so that nobody else ends it.
    private func take(_ number: Int64) throws(ServiceError) -> SessionTransaction? {
        try sessions.withLock { (sessions) throws(ServiceError) in
            guard let session = sessions[number] else { throw Self.sessionEnded }
            sessions[number]?.transaction = nil
            return session.transaction
        }
    }
}
