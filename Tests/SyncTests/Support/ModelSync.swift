import Sync
import SyncModel

/// A server that keeps everything in memory: the history, one state, and per device the entries rewritten for it.
struct ModelServer {
    /// An entry of the history, and the device's change that it is.
    struct Entry {
        let entry: MergeEntry
        let sender: UInt64
        let senderVersion: UInt64
    }

    /// What the server keeps of a device, as rows of a table would.
    struct File {
        var integrated: UInt64 = 0
        var rewritten: [UInt64: MergeEntry] = [:]
    }

    static let ownFile: UInt64 = 1

    private(set) var state = RealmState()
    private(set) var history: [Entry] = []
    private(set) var files: [UInt64: File] = [:]
    /// Whether an upload ever met something that it had to be rewritten for.
    private(set) var isRewritten = false

    var version: UInt64 { UInt64(history.count) }

    /// A write of the server's own.
    mutating func change(at time: Int64, _ make: (inout RealmState) throws -> Changeset) throws {
        let changeset = try make(&state)
        append(changeset, time, Self.ownFile, sender: Self.ownFile, senderVersion: 0)
    }

    /// Changes of a device; those that came before are passed over.
    mutating func integrate(_ uploads: [ReciprocalHistory.Incoming], from sender: UInt64) throws {
        var file = files[sender] ?? File()
        let fresh = uploads.filter { $0.entry.version > file.integrated }
        guard let first = fresh.first, let last = fresh.last else { return }
        let known = history.dropFirst(Int(first.base)).filter { $0.sender != sender }
        var reciprocal = ReciprocalHistory(known.map { file.rewritten[$0.entry.version] ?? $0.entry })
        for entry in try reciprocal.integrate(fresh) {
            isRewritten = isRewritten || entry.isRewritten
            try state.apply(entry.changeset)
            append(entry.changeset, entry.timestamp, entry.file, sender: sender, senderVersion: entry.version)
        }
        for entry in reciprocal.entries where entry.isRewritten { file.rewritten[entry.version] = entry }
        file.rewritten = file.rewritten.filter { $0.key > last.base }
        file.integrated = last.entry.version
        files[sender] = file
    }

    private mutating func append(
        _ changeset: Changeset,
        _ time: Int64,
        _ file: UInt64,
        sender: UInt64,
        senderVersion: UInt64
    ) {
        let entry = MergeEntry(changeset: changeset, timestamp: time, file: file, version: version + 1)
        history.append(Entry(entry: entry, sender: sender, senderVersion: senderVersion))
    }

    /// What a device gets: entries of others, each with the device's own last change before it.
    func download(for file: UInt64, after start: UInt64, limit: Int) -> Download {
        var integrated = history.prefix(Int(start)).last { $0.sender == file }?.senderVersion ?? 0
        var download = Download(entries: [], version: start, integrated: files[file]?.integrated ?? 0)
        for item in history.dropFirst(Int(start)).prefix(limit) {
            download.version = item.entry.version
            if item.sender == file {
                integrated = item.senderVersion
            } else if !item.entry.changeset.isEmpty {
                download.entries.append(ReciprocalHistory.Incoming(item.entry, base: integrated))
            }
        }
        return download
    }

    struct Download {
        var entries: [ReciprocalHistory.Incoming]
        var version: UInt64
        /// The last change of the device that the server has.
        var integrated: UInt64
    }
}

/// A device that makes changes while it hears nothing, and merges what it is told.
struct ModelDevice {
    let file: UInt64
    private(set) var state = RealmState()
    /// As they were made, with the server's version at the time; until the server has them.
    private(set) var unsent: [ReciprocalHistory.Incoming] = []
    private(set) var serverVersion: UInt64 = 0
    private var version: UInt64 = 0
    private var own = ReciprocalHistory()

    init(file: UInt64) {
        self.file = file
    }

    mutating func change(at time: Int64, _ make: (inout RealmState) throws -> Changeset) throws {
        let changeset = try make(&state)
        guard !changeset.isEmpty else { return }
        version += 1
        let entry = MergeEntry(changeset: changeset, timestamp: time, file: file, version: version)
        own.append(entry)
        unsent.append(ReciprocalHistory.Incoming(entry, base: serverVersion))
    }

    mutating func receive(_ download: ModelServer.Download) throws {
        for entry in try own.integrate(download.entries) { try state.apply(entry.changeset) }
        if let last = download.entries.last { own.acknowledge(last.base) }
        serverVersion = download.version
        unsent.removeAll { $0.entry.version <= download.integrated }
    }
}
