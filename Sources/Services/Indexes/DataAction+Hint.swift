import MQL

// An index that leaves documents out is an answer of its own: with its name as a hint MongoDB looks nowhere else.
extension DataAction {
    /// Whether it asks for all documents, so that no index of single fields can serve it.
    var selectsAll: Bool {
        switch self {
        case .find(let arguments), .findOne(let arguments): arguments.filter == .all
        case .updateOne(let arguments), .updateMany(let arguments): arguments.filter == .all
        case .count(let arguments): arguments.filter == .all
        case .distinct(let arguments): arguments.filter == .all
        case .findAndModify(let arguments): arguments.filter == .all
        case .deleteOne(let filter), .deleteMany(let filter): filter == .all
        case .aggregate(let pipeline): pipeline.leadingMatch == .all
        case .insertOne, .insertMany, .estimatedCount, .bulkWrite, .watch, .explain: false
        }
    }

    /// The same action on the documents that an index holds.
    func restricted(to held: Filter) -> DataAction {
        switch self {
        case .find(var arguments):
            arguments.filter = .and([arguments.filter, held])
            return .find(arguments)
        case .findOne(var arguments):
            arguments.filter = .and([arguments.filter, held])
            return .findOne(arguments)
        case .updateOne(var arguments):
            arguments.filter = .and([arguments.filter, held])
            return .updateOne(arguments)
        case .updateMany(var arguments):
            arguments.filter = .and([arguments.filter, held])
            return .updateMany(arguments)
        case .count(var arguments):
            arguments.filter = .and([arguments.filter, held])
            return .count(arguments)
        case .distinct(var arguments):
            arguments.filter = .and([arguments.filter, held])
            return .distinct(arguments)
        case .findAndModify(var arguments):
            arguments.filter = .and([arguments.filter, held])
            return .findAndModify(arguments)
        case .deleteOne(let filter): return .deleteOne(.and([filter, held]))
        case .deleteMany(let filter): return .deleteMany(.and([filter, held]))
        case .aggregate(let pipeline):
            return .aggregate(Pipeline(stages: [.match(held)] + pipeline.stages))
        case .insertOne, .insertMany, .estimatedCount, .bulkWrite, .watch, .explain: return self
        }
    }
}
