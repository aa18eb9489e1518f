import AppDefinition
import Rules
import Testing

/// The settings of partition-based sync.
///
/// Source: `app-config.md` §8; `sync-semantics.md` §16.
@Suite("Settings of partitions")
struct PartitionSettingsTests {
    private func parsed(_ settings: String) -> (SyncDefinition?, Findings) {
        let (app, _, findings) = examine(files(root + ["sync/config.json": settings]))
        return (app?.sync, findings)
    }

    @Test("takes key, type and permissions")
    func taken() throws {
        let (sync, findings) = parsed(
            """
            {"type": "partition", "state": "enabled", "partition": {"key": "owner_id", "type": "objectId",
             "required": true, "permissions": {"read": {"%%partition": {"$in": ["a"]}}, "write": false}}}
            """
        )
        #expect(findings.errors.isEmpty)
        let partition = try #require(sync?.partition)
        #expect(sync?.isPartitioned == true)
        #expect(partition.key == "owner_id")
        #expect(partition.type == .objectID)
        #expect(partition.isRequired)
        #expect(partition.read.literal == nil)
        #expect(partition.write.literal == false)
    }

    @Test("takes permissions that stand beside the partition, as older exports have them")
    func older() {
        let (sync, _) = parsed(
            """
            {"type": "partition", "state": "enabled", "partition": {"key": "p", "type": "string"},
             "permissions": {"read": true, "write": {"%%user.id": "%%partition"}}}
            """
        )
        #expect(sync?.partition?.read.literal == true)
        #expect(sync?.partition?.write.literal == nil)
    }

    @Test("gives nobody a permission that is not there, and says so")
    func missing() {
        let (sync, findings) = parsed(
            #"{"type": "partition", "state": "enabled", "partition": {"key": "p", "type": "string"}}"#
        )
        #expect(sync?.partition?.read.literal == false)
        #expect(sync?.partition?.write.literal == false)
        #expect(findings.list.filter { $0.message.contains("nobody may") }.count == 2)
    }

    static let refused = [
        "{}", #"{"type": "string"}"#, #"{"key": "a.b"}"#, #"{"key": "_id"}"#,
        #"{"key": "p", "type": "double"}"#,
        #"{"key": "p", "permissions": {"read": {"owner": "%%user.id"}}}"#,
        #"{"key": "p", "permissions": {"read": {"%%root.owner": "%%user.id"}}}"#,
    ]

    @Test("refuses partitions without a usable key, and permissions about documents", arguments: refused)
    func refuses(partition: String) {
        let (_, findings) = parsed(
            #"{"type": "partition", "state": "enabled", "partition": \#(partition)}"#
        )
        #expect(findings.hasErrors)
        // What is not in force does not keep an app from being served.
        #expect(
            !parsed(#"{"type": "partition", "state": "disabled", "partition": \#(partition)}"#).1.hasErrors
        )
    }
}
