import BSON

// Devices of partition-based sync that change over to Flexible Sync, and back.
//
// Source: `sync-semantics.md` §17.2.
extension RealmClient {
    /// Follows error 232 or 234, as devices do: a fresh copy in the other kind of sync, and a reset with recovery.
    package func changeOver() throws {
        guard let error, error.code == 232 || error.code == 234 else {
            throw BrokenRule("nothing asks to change over")
        }
        disconnect()
        let old = file
        (reason, isDownloadOnly) = (1, true)
        if error.code == 232 {
            guard error.body["action"]?.string == "MigrateToFLX",
                let query = error.body["partitionQuery"]?.string, !query.isEmpty, let before = partition
            else { throw BrokenRule("error 232 without its members: \(error.body)") }
            partition = nil
            file = RealmFile(isFlexible: true)
            try connectForReset()
            try open()
            let classes = file.topLevelClasses.map { ($0.text, "(\(query))") }
            try subscribe(Dictionary(classes) { first, _ in first })
            try catchUp()
            try unbind()
            migratedPartition = before
        } else {
            guard error.body["action"]?.string == "RevertToPBS", let before = migratedPartition else {
                throw BrokenRule("error 234 without its members: \(error.body)")
            }
            (partition, migratedPartition) = (before, nil)
            file = RealmFile(isFlexible: false)
            try connectForReset()
            try open()
            try catchUp()
            try unbind()
        }
        try file.replace(old, keepsChanges: true)
        isDownloadOnly = false
        try open()
        reason = 0
    }
}
