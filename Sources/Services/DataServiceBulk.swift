import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

extension DataCall {
    /// `bulkWrite`, in one transaction.
    ///
    /// What rules or a schema deny undoes everything (D5); what MongoDB would report of one write, such as a
    /// duplicate key, undoes that write, and all of them when the bulk is atomic.
    func bulkWrite(_ arguments: BulkWriteArguments) async throws(ServiceError) -> BulkWriteResult {
        var steps: [BulkStep] = []
        for (index, operation) in arguments.operations.enumerated() {
            switch operation {
            case .insertOne(let document):
                let insertion: Insertion
                do throws(ServiceError) {
                    insertion = try await self.insertion(of: document)
                } catch {
                    throw error.placed(at: BulkStep.place(index))
                }
                // Inserts that follow one another are one statement.
                if case .insert(let first, let before)? = steps.last {
                    steps[steps.count - 1] = .insert(first: first, before + [insertion])
                } else {
                    steps.append(.insert(first: index, [insertion]))
                }
            case .updateOne(let update): steps.append(.one(index, .updateOne(update)))
            case .updateMany(let update): steps.append(.one(index, .updateMany(update)))
            case .deleteOne(let filter): steps.append(.one(index, .deleteOne(filter)))
            case .deleteMany(let filter): steps.append(.one(index, .deleteMany(filter)))
            }
        }
        // A collection is made before the transaction, which then finds it.
        if steps.contains(where: \.mayInsert) { _ = try await ensureLayout() }
        return try await enclosed { call async throws(ServiceError) in
            var result = BulkWriteResult()
            for step in steps {
                try await call.take(step, arguments, &result)
                guard let failed = result.errors.last else { continue }
                if arguments.isAtomic { throw failed.undoingAll }
                if arguments.isOrdered { break }
            }
            return result
        }
    }

    private func take(
        _ step: BulkStep,
        _ arguments: BulkWriteArguments,
        _ result: inout BulkWriteResult
    ) async throws(ServiceError) {
        switch step {
        case .insert(let first, let insertions):
            let layout = try await ensureLayout()
            let errors = try await insert(
                insertions,
                layout,
                isOrdered: arguments.isOrdered || arguments.isAtomic
            )
            let failed = Set(errors.map(\.index))
            let end = arguments.isOrdered ? errors.first?.index ?? insertions.count : insertions.count
            for (place, insertion) in insertions.prefix(end).enumerated() where !failed.contains(place) {
                result.insertedIDs.append((first + place, insertion.id))
            }
            result.errors += errors.map { WriteError(index: first + $0.index, error: $0.error) }
        case .one(let index, let action):
            do throws(ServiceError) {
                let done = try await transaction { (_) async throws(ServiceError) in
                    try await execute(action)
                }
                switch done {
                case .updated(let update):
                    result.matched += update.matched
                    result.modified += update.modified
                    if let id = update.upsertedID { result.upsertedIDs.append((index, id)) }
                case .deleted(let count): result.deleted += count
                default: break
                }
            } catch {
                guard error.isOfOneWrite else {
                    throw error.postgresFailure == nil ? error.placed(at: BulkStep.place(index)) : error
                }
                result.errors.append(WriteError(index: index, error: error))
            }
        }
    }
}

/// What of a bulk is done in one go.
private enum BulkStep {
    /// The index of the first, and all that follow one another.
    case insert(first: Int, [Insertion])
    case one(Int, DataAction)

    static func place(_ index: Int) -> String { "operations[\(index)]" }

    var mayInsert: Bool {
        switch self {
        case .insert: true
        case .one(_, .updateOne(let update)), .one(_, .updateMany(let update)): update.upsert
        case .one: false
        }
    }
}

extension WriteError {
    /// The error of an atomic bulk, which names the place of the write that failed.
    fileprivate var undoingAll: ServiceError {
        let placed = error.placed(at: BulkStep.place(index))
        return ServiceError(
            placed.code,
            placed.sentence,
            serverCode: placed.serverCode,
            details: placed.details,
            cause: WriteErrors(errors: [self], cause: error.cause)
        )
    }
}

extension ServiceError {
    /// Whether MongoDB would report it of one write and go on: not a denial, nor what ends the whole request.
    fileprivate var isOfOneWrite: Bool {
        guard code == .mongoDBError, serverCode != .maxTimeMSExpired, !(cause is WriteDenial) else {
            return false
        }
        return postgresFailure?.isRetryable != true
    }
}
