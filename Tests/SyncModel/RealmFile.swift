package import BSON
package import Sync

/// A Realm file on a device: objects, changes that the server may not have, subscriptions.
///
/// It survives connections. What comes from the server is merged with what the server did not know of, as
/// realm-core's client does. Source: `realm-sync-protocol.md` §§3, 4.2, 7.
package struct RealmFile: Sendable {
    /// Given by the server.
    package private(set) var ident: (file: UInt64, salt: Int64)?
    package private(set) var state = RealmState()
    /// The newest version of the file; changes of the application and integrations of messages make versions.
    package private(set) var version: Int64 = 1
    /// Changes that the server has not acknowledged, as they were made.
    package private(set) var unsent: [ReciprocalHistory.Incoming] = []
    /// The own changes in the form in which further entries of the server meet them.
    private var own = ReciprocalHistory()
    package private(set) var rules = DownloadRules()
    /// The highest server version that was told with an upload.
    package private(set) var reportedServer: Int64 = 0
    package var subscriptions = SubscriptionSets()
    /// Of the server's classes, their properties.
    private var columns: [ByteText: Set<ByteText>] = [:]
    /// Of the server's classes, those whose objects stand for themselves.
    package private(set) var topLevelClasses: Set<ByteText> = []
    private var bootstrap: [WireDownload.Entry] = []
    /// Writes that were undone, until the version that undoes them has come.
    private var announced: [CompensatedWrite] = []
    /// Writes that were undone, as the application is told.
    package private(set) var compensated: [CompensatedWrite] = []

    /// Whether it is a file of Flexible Sync, rather than of one partition.
    package let isFlexible: Bool

    /// A file with the application's own schema, which is its first change.
    package init(schema: [Instruction] = [], isFlexible: Bool = true) {
        self.isFlexible = isFlexible
        guard !schema.isEmpty else { return }
        record(Changeset(schema), at: 0)
    }

    /// In development mode the server takes over what the application declares, and does not say it again.
    package mutating func declare() throws { try learn(unsent.map(\.entry.changeset)) }

    package var serverVersion: Int64 { rules.server }
    package var ownFile: UInt64 { ident?.file ?? 0 }

    /// The server has given the file its identifier: what was made before bears it, too.
    package mutating func take(ident: (file: UInt64, salt: Int64)) {
        self.ident = ident
        own = ReciprocalHistory()
        unsent = unsent.map { change in
            ReciprocalHistory.Incoming(
                MergeEntry(
                    changeset: change.entry.changeset,
                    timestamp: change.entry.timestamp,
                    file: ident.file,
                    version: change.entry.version
                ),
                base: change.base
            )
        }
        for change in unsent { own.append(change.entry) }
    }

    // MARK: Changes

    /// One transaction of the application.
    package mutating func write(
        at time: Int64,
        _ make: (inout RealmState) throws -> Changeset
    ) throws {
        let changeset = try make(&state)
        if !changeset.isEmpty { record(changeset, at: time) }
    }

    /// One transaction with these instructions.
    package mutating func write(at time: Int64, _ instructions: [Instruction]) throws {
        try write(at: time) { state throws in
            let changeset = Changeset(instructions)
            try state.apply(changeset)
            return changeset
        }
    }

    private mutating func record(_ changeset: Changeset, at time: Int64) {
        version += 1
        let entry = MergeEntry(
            changeset: changeset,
            timestamp: time,
            file: ownFile,
            version: UInt64(version)
        )
        own.append(entry)
        unsent.append(ReciprocalHistory.Incoming(entry, base: UInt64(serverVersion)))
    }

    /// Makes one instruction here, to be part of a transaction.
    mutating func write(_ instruction: Instruction, into made: inout [Instruction]) throws {
        try state.apply(instruction)
        made.append(instruction)
    }

    mutating func skip(to version: Int64) { self.version = max(self.version, version) }

    /// What an upload said of the server's version.
    package mutating func report(server: Int64) { reportedServer = max(reportedServer, server) }

    // MARK: What the server says

    package mutating func disconnect() {
        rules.disconnect()
        bootstrap = []
        announced = []
    }

    /// Error 231: the message that undoes the writes is to follow.
    package mutating func announce(_ body: BSONDocument) throws {
        let write = try CompensatedWrite(body)
        guard write.repairVersion > serverVersion else {
            throw BrokenRule("error 231 for version \(write.repairVersion), which was integrated already")
        }
        announced.append(write)
    }

    /// Takes in one message.
    package mutating func integrate(_ message: WireDownload) throws {
        try rules.check(
            message,
            ownFile: ownFile,
            newestVersion: version,
            reportedServer: reportedServer,
            isFlexible: isFlexible,
            isKnown: { subscriptions.isKnown($0) },
            active: subscriptions.active.version
        )
        try learn(message.entries.map(\.changeset))
        if message.batch == 2 {
            try take(message.entries)
        } else {
            subscriptions.bootstrapBegins(message.queryVersion)
            bootstrap += message.entries
            if message.batch == 0 { return }
            try take(bootstrap)
            bootstrap = []
            subscriptions.bootstrapEnded(message.queryVersion)
        }
        own.acknowledge(UInt64(message.client))
        unsent.removeAll { $0.entry.version <= UInt64(message.uploadClient) }
        try settle(message)
    }

    /// Data is only for classes and properties that the server has introduced.
    private mutating func learn(_ changesets: [Changeset]) throws {
        for instruction in changesets.lazy.flatMap(\.instructions) {
            switch instruction {
            case .addTable(let table, let kind):
                columns[table] = columns[table] ?? []
                if case .topLevel = kind { topLevelClasses.insert(table) }
            case .addColumn(let column):
                guard columns[column.table] != nil else {
                    throw BrokenRule("a property of a class that is not there: \(instruction)")
                }
                if let target = column.target, columns[target] == nil {
                    throw BrokenRule("a link to a class that is not there: \(instruction)")
                }
                columns[column.table]?.insert(column.field)
            case .eraseTable, .eraseColumn: throw BrokenRule("a server erases no class: \(instruction)")
            default:
                guard let fields = columns[instruction.table] else {
                    throw BrokenRule("a class that is not there: \(instruction)")
                }
                if let field = instruction.address?.field, !fields.contains(field) {
                    throw BrokenRule("a property that is not there: \(instruction)")
                }
            }
        }
    }

    private mutating func take(_ entries: [WireDownload.Entry]) throws {
        guard !entries.isEmpty else { return }
        let merged = try own.integrate(
            entries.map { entry in
                ReciprocalHistory.Incoming(
                    MergeEntry(
                        changeset: entry.changeset,
                        timestamp: entry.timestamp,
                        file: UInt64(entry.originFile),
                        version: UInt64(entry.serverVersion)
                    ),
                    base: UInt64(entry.clientVersion)
                )
            }
        )
        for entry in merged {
            try state.apply(Changeset(entry.changeset.instructions.filter { $0.object != nil }))
        }
        version += 1
    }

    /// What was announced must be in the first message that reaches its version.
    private mutating func settle(_ message: WireDownload) throws {
        for write in announced where write.repairVersion <= message.server {
            guard message.entries.contains(where: { $0.serverVersion == write.repairVersion }) else {
                throw BrokenRule(
                    "no entry of version \(write.repairVersion), which error 231 named: \(message)"
                )
            }
            compensated.append(write)
        }
        announced.removeAll { $0.repairVersion <= message.server }
    }
}

/// One error 231 as the application is told it.
package struct CompensatedWrite: Sendable {
    package struct Update: Sendable, Equatable {
        package let table: String
        package let key: String
        package let reason: String
    }

    package let message: String
    package let repairVersion: Int64
    package let clientVersion: Int64
    package let updates: [Update]

    init(_ body: BSONDocument) throws {
        guard let version = body["compensatingWriteServerVersion"]?.exactInt64,
            let client = body["rejectedClientVersion"]?.exactInt64,
            let updates = body["rejectedUpdates"]?.array, body["action"]?.string == "Warning"
        else { throw BrokenRule("error 231 without its members: \(body)") }
        message = body["message"]?.string ?? ""
        repairVersion = version
        clientVersion = client
        self.updates = try updates.map { value in
            guard let update = value.document, let table = update["table"]?.string,
                let key = update["pk"]?.string, let reason = update["reason"]?.string
            else { throw BrokenRule("a rejected update without its members: \(body)") }
            return Update(table: table, key: key, reason: reason)
        }
    }
}
