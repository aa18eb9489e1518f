/// What realm-core holds the numbers of a DOWNLOAD to, over the life of a file.
///
/// Source: `realm-sync-protocol.md` §4.2.
package struct DownloadRules: Sendable {
    /// Of the last message that was integrated.
    package private(set) var server: Int64 = 0
    package private(set) var client: Int64 = 0
    package private(set) var latest: (version: Int64, salt: Int64) = (0, 0)
    package private(set) var acknowledged: Int64 = 0
    /// The bootstrap that is under way.
    private var bootstrap: (queryVersion: Int64, server: Int64, entries: Int)?

    /// A connection has ended, and with it a bootstrap.
    mutating func disconnect() { bootstrap = nil }

    mutating func check(
        _ message: WireDownload,
        ownFile: UInt64,
        newestVersion: Int64,
        reportedServer: Int64,
        isFlexible: Bool,
        isKnown: (Int64) -> Bool,
        active: Int64
    ) throws {
        func must(_ holds: Bool, _ rule: String) throws {
            if !holds { throw BrokenRule("\(rule): \(message), after \(self)") }
        }
        try must(message.server >= server, "the download cursor never decreases")
        try must(message.server <= message.latest, "the download cursor is at most the latest version")
        try must(message.server >= message.uploadServer, "the download cursor is at least U.server")
        try must(message.client >= client, "the cursor's client version never decreases")
        try must(message.client <= message.uploadClient, "the cursor's client version is at most U.client")
        try must(message.latest >= latest.version, "the latest version never decreases")
        try must(message.salt != 0, "the salt is not zero")
        try must(
            message.latest != latest.version || latest.version == 0 || message.salt == latest.salt,
            "one version has one salt"
        )
        try must(message.uploadClient >= acknowledged, "U.client never decreases")
        try must(message.uploadClient <= newestVersion, "U.client is at most the newest version")
        try must(message.uploadServer <= reportedServer, "U.server is one that was told with an upload")
        try must(isKnown(message.queryVersion), "the query version is known")
        try must((0...2).contains(message.batch), "the batch state is known")
        try must((0...1).contains(message.progress), "progress lies between 0 and 1")
        // By partitions it says whether more follows, of which each message is a step.
        try must(!isFlexible || message.batch == 0 || message.progress == 1, "progress is 1 when all is done")
        var last = (server: server, client: client)
        for entry in message.entries {
            try must(entry.serverVersion > 0, "an entry has a version")
            try must(
                isFlexible ? entry.serverVersion >= last.server : entry.serverVersion > last.server,
                "entries never go back, and rise without Flexible Sync"
            )
            try must(entry.serverVersion <= message.server, "an entry is not past the cursor")
            try must(entry.clientVersion >= last.client, "entries' client versions never go back")
            try must(
                entry.clientVersion <= message.client,
                "an entry's client version is not past the cursor"
            )
            try must(entry.originFile > 0, "an entry has an origin")
            try must(UInt64(entry.originFile) != ownFile, "an entry is not the receiver's own")
            last = (entry.serverVersion, entry.clientVersion)
        }
        if message.batch == 2 {
            try must(bootstrap == nil, "no steady state inside of a bootstrap")
            try must(message.queryVersion == active, "steady state is for the active query")
            accept(message)
            return
        }
        try must(message.batch == 1 || !message.entries.isEmpty, "a part of a bootstrap has entries")
        if let bootstrap {
            try must(bootstrap.queryVersion == message.queryVersion, "one bootstrap at a time")
            try must(bootstrap.server == message.server, "all of a bootstrap is at one version")
        }
        let count = (bootstrap?.entries ?? 0) + message.entries.count
        if message.batch == 0 {
            bootstrap = (message.queryVersion, message.server, count)
        } else {
            try must(count > 0, "a bootstrap has an entry")
            bootstrap = nil
            accept(message)
        }
    }

    private mutating func accept(_ message: WireDownload) {
        server = message.server
        client = message.client
        latest = (message.latest, message.salt)
        acknowledged = message.uploadClient
    }
}
