import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Source: `sync-semantics.md` §§4, 10, 11.
@Suite("Sync: lifecycle", .serialized)
struct SyncLifecycleTests {
    // MARK: Roles

    @Test("brings a device to another view when its role changes, without a reset")
    func role() async throws {
        let device = try await LifecycleServer.device()
        _ = try device.subscribe(1, SyncDevice.items)
        let (own, other) = (ItemExampleTests.newID(), ItemExampleTests.newID())
        try device.write(own)
        try await LifecycleServer.setRules(read: #"{"complexity": 77}"#, write: "false")
        #expect(try device.nextError() == "200")
        device.send("unbind 1\n")
        try await LifecycleServer.sql(
            #"update todo."Item" set doc = doc || '{"itemName": "secret"}' where doc->'_id'->>'$oid' = '\#(own)'"#
        )
        device.rebind(1, SyncDevice.items)
        var messages = try device.catchUp(2)
        #expect(messages.last { $0.name == "download" }?.fields[8...9] == ["1", "1"])
        let erased = messages.flatMap(\.instructions)
        #expect(erased.contains(.eraseObject(ItemExampleTests.object(own))))
        #expect(!"\(erased)".contains("secret"))

        // What the device writes now is undone.
        device.upload(ItemExampleTests.creation(other, owner: device.user.id, name: "new", complexity: 1))
        #expect(try device.nextError() == "231")
        #expect(try device.receive().instructions == [.eraseObject(ItemExampleTests.object(other))])

        try await LifecycleServer.setRules(read: LifecycleServer.own, write: LifecycleServer.own)
        #expect(try device.nextError() == "200")
        device.send("unbind 1\n")
        device.rebind(1, SyncDevice.items)
        messages = try device.catchUp(3)
        #expect(messages.flatMap(\.instructions).contains(.createObject(ItemExampleTests.object(own))))
    }

    @Test("a device loses what it had not sent when its role changes, and so does the server")
    func unsent() async throws {
        let device = try await ItemDevice.subscribed(try await LifecycleServer.caller())
        let witness = try await LifecycleServer.device()
        _ = try witness.subscribe(1, SyncDevice.items)
        let id = ItemExampleTests.newID()
        try device.create(id, name: "synced")
        try device.meet()
        device.client.disconnect()
        try device.set(id, "itemName", .text("unsent"))
        // The object is seen before and after.
        try await LifecycleServer.setRules(read: #"{"complexity": 3}"#, write: LifecycleServer.own)
        #expect(try witness.nextError() == "200")
        try device.client.connect()
        try device.meet()
        try device.meet()
        let stored = try device.stored(id, "itemName")
        #expect(device.value(id, "itemName") == .plain(.string(ByteText(stored))))
        try device.set(id, "itemName", .text("later"))
        try device.meet()
        #expect(try device.stored(id, "itemName") == "later")
        #expect(device.client.file.compensated.isEmpty)
        device.client.disconnect()
        try await LifecycleServer.setRules(read: LifecycleServer.own, write: LifecycleServer.own)
    }

    @Test("makes an older device begin anew when its role changes")
    func olderDevice() async throws {
        let device = try await LifecycleServer.device(protocolVersion: 13)
        _ = try device.subscribe(1, SyncDevice.items)
        try await LifecycleServer.setRules(read: #"{"complexity": 78}"#, write: "false")
        #expect(try device.nextError() == "200")
        device.send("unbind 1\n")
        device.rebind(1, SyncDevice.items)
        #expect(try device.nextError() == "228")
        try await LifecycleServer.setRules(read: LifecycleServer.own, write: LifecycleServer.own)
    }

    @Test("does not disturb a device by changes that mean nothing to it")
    func unconcerned() async throws {
        let device = try await LifecycleServer.device()
        _ = try device.subscribe(1, SyncDevice.items)
        try await LifecycleServer.sql("select tidegate.set_value('item', 'unrelated', '1'::json)")
        try await LifecycleServer.setRules(
            read: LifecycleServer.own,
            write: #"{"ownerId": {"$eq": "%%user.id"}}"#
        )
        #expect(try device.catchUp(2).allSatisfy { $0.name != "json_error" })
        let id = ItemExampleTests.newID()
        try device.write(id)
        #expect(try device.catchUp(3).allSatisfy { $0.name != "json_error" })
    }

    @Test("follows the custom data of its user")
    func customData() async throws {
        let device = try await LifecycleServer.device()
        let notes = #"{"Note":"(TRUEPREDICATE)"}"#
        _ = try device.subscribe(1, notes)
        let (team, id) = ("team-\(device.user.id)", ItemExampleTests.newID())
        try await LifecycleServer.sql(
            #"insert into todo."Note" (doc) values ('{"_id": {"$oid": "\#(id)"}, "ownerId": "\#(team)"}')"#
        )
        try await LifecycleServer.sql(
            #"insert into todo."Profile" (doc) values ('{"_id": "\#(device.user.id)", "user": "\#(device.user.id)", "team": "\#(team)"}')"#
        )
        #expect(try device.nextError() == "200")
        device.send("unbind 1\n")
        device.rebind(1, notes)
        let note = ObjectAddress(table: ByteText("Note"), key: ItemExampleTests.object(id).key)
        #expect(try device.catchUp(2).flatMap(\.instructions).contains(.createObject(note)))
        try await LifecycleServer.sql(
            #"delete from todo."Profile" where doc->>'user' = '\#(device.user.id)'"#
        )
        #expect(try device.nextError() == "200")
        device.send("unbind 1\n")
        device.rebind(1, notes)
        #expect(try device.catchUp(3).flatMap(\.instructions).contains(.eraseObject(note)))
    }

    // MARK: Operators

    @Test("makes files begin anew that an operator names, at once and later")
    func forced() async throws {
        let device = try await LifecycleServer.device()
        _ = try device.subscribe(1, SyncDevice.items)
        let ident = device.file.ident
        try await LifecycleServer.sql("select tidegate.force_client_reset('item', \(ident))")
        let error = try device.receive()
        #expect(error.fields.prefix(2) == ["json_error", "217"])
        #expect(try ExtendedJSON.document(error.text)["action"]?.string == "ClientReset")
        let (_, answer) = try await device.reconnected(1, SyncDevice.items)
        #expect(answer.fields.prefix(2) == ["json_error", "217"])
        await #expect(throws: (any Error).self) {
            try await LifecycleServer.sql("select tidegate.force_client_reset('item')")
        }
        await #expect(throws: (any Error).self) {
            try await LifecycleServer.sql("select tidegate.force_client_reset('item', 999999)")
        }
    }

    @Test("waits while sync is paused, and goes on without loss")
    func paused() async throws {
        let device = try await LifecycleServer.device()
        _ = try device.subscribe(1, SyncDevice.items)
        try await LifecycleServer.sql("select tidegate.pause_sync('item')")
        #expect(try device.nextError() == "229")
        device.send("unbind 1\n")
        device.rebind(1, SyncDevice.items)
        #expect(try device.nextError() == "229")
        let id = ItemExampleTests.newID()
        try await LifecycleServer.sql(
            #"""
            insert into todo."Item" (doc) values ('{"_id": {"$oid": "\#(id)"}, "ownerId": "\#(device.user.id)",
                "itemName": "meanwhile", "complexity": 1}')
            """#
        )
        try await LifecycleServer.sql("select tidegate.enable_sync('item')")
        var found: [Instruction] = []
        try await eventually {
            let (next, answer) = try await device.reconnected(1, SyncDevice.items)
            if answer.fields.prefix(2) == ["json_error", "229"] { return false }
            found = answer.instructions + (try next.catchUp(2).flatMap(\.instructions))
            return true
        }
        #expect(found.contains(.createObject(ItemExampleTests.object(id))))
    }

    @Test("begins anew after sync was terminated; the recovery switch is told")
    func terminated() async throws {
        let device = try await LifecycleServer.device()
        _ = try device.subscribe(1, SyncDevice.items)
        try await LifecycleServer.sql("select tidegate.terminate_sync('item')")
        #expect(["208", "229"].contains(try device.nextError()))
        try await LifecycleServer.sql(
            """
            update tidegate.settings set config = (config::jsonb || '{"is_recovery_mode_disabled": true}')::json
            where name = 'sync'; select tidegate.enable_sync('item')
            """
        )
        var body = BSONDocument()
        try await eventually {
            let (_, answer) = try await device.reconnected(1, SyncDevice.items)
            if answer.fields.prefix(2) == ["json_error", "229"] { return false }
            #expect(answer.fields.prefix(2) == ["json_error", "208"])
            body = try ExtendedJSON.document(answer.text)
            return true
        }
        #expect(body["action"]?.string == "ClientResetNoRecovery")
        #expect(body["isRecoveryModeDisabled"]?.bool == true)
        try await LifecycleServer.sql(
            """
            update tidegate.settings set config = (config::jsonb || '{"is_recovery_mode_disabled": false}')::json
            where name = 'sync'
            """
        )
    }

    @Test("forgets old history that no device needs; one that was away for longer must begin anew")
    func trimmed() async throws {
        let (away, device) = (try await LifecycleServer.device(), try await LifecycleServer.device())
        _ = try away.subscribe(1, SyncDevice.items)
        _ = try device.subscribe(1, SyncDevice.items)
        away.close()
        for _ in 0..<3 { try device.write(ItemExampleTests.newID()) }
        let (server, client) = (device.progress.server, device.version)
        device.send("upload 1 0 0 0 \(client) \(server) \(server)\n")
        _ = try device.catchUp(2)
        // The one that is away still counts.
        let trim = "select tidegate.trim_sync('item', '0 seconds')"
        try await LifecycleServer.sql(
            """
            update tidegate.sync_files set seen_at = now() + interval '1 hour', acknowledged = 0, locked = 0
                where ident = \(away.file.ident);
            update tidegate.sync_files set seen_at = now() - interval '1 day'
                where ident not in (\(away.file.ident), \(device.file.ident))
            """
        )
        #expect(try await LifecycleServer.sql(trim) == "0")
        try await LifecycleServer.sql(
            "update tidegate.sync_files set seen_at = now() - interval '1 day' where ident = \(away.file.ident)"
        )
        try await eventually { Int(try await LifecycleServer.sql(trim)) ?? 0 > 0 }
        let kept = try await LifecycleServer.sql(
            "select coalesce(min(version), 0) from tidegate.sync_history"
        )
        #expect((Int64(kept) ?? -1) == 0 || (Int64(kept) ?? -1) > away.progress.server)
        let (_, answer) = try await away.reconnected(1, SyncDevice.items)
        #expect(answer.fields.prefix(2) == ["json_error", "222"])
        try device.write(ItemExampleTests.newID())
    }

    // MARK: What operators see

    @Test("shows files, sessions, queries, undone writes and sizes; denials stand in the log word for word")
    func views() async throws {
        let device = try await LifecycleServer.device()
        defer { device.close() }
        _ = try device.subscribe(1, ItemExampleTests.query)
        let id = ItemExampleTests.newID()
        device.upload(ItemExampleTests.creation(id, owner: device.user.id, name: "outside", complexity: 9))
        #expect(try device.nextError() == "231")
        let ident = device.file.ident
        for (view, answer) in [
            ("sync_clients", "item-abcde|\(device.user.id)"),
            ("sync_subscriptions", "item-abcde|\(device.user.id)"),
            ("sync_denials", "item-abcde|\(device.user.id)"),
        ] {
            let found = try await LifecycleServer.sql(
                "select app, user_id from tidegate.\(view) where ident = \(ident)"
            )
            #expect(found == answer)
        }
        #expect(
            try await LifecycleServer.sql(
                "select class, query from tidegate.sync_subscriptions where ident = \(ident)"
            ) == "Item|(complexity < 5)"
        )
        #expect(
            try await LifecycleServer.sql(
                "select protocol from tidegate.sync_sessions where ident = \(ident)"
            )
                == "14"
        )
        #expect(
            try await LifecycleServer.sql(
                "select state, open_files > 0, history_bytes > 0 from tidegate.sync_status"
            ) == "enabled|t|t"
        )
        let reason =
            #"write to "\#(id)" in table "Item" not allowed; object is outside of the current query view"#
        try await eventually {
            try await LifecycleServer.sql(
                """
                select error::json #>> '{Item,\(id)}' from tidegate.logs
                where type = 'SYNC_ERROR' and user_id = '\(device.user.id)' and code = 'ErrorCompensatingWrite'
                """
            ) == reason
        }
        try await eventually {
            try await LifecycleServer.sql(
                """
                select string_agg(distinct type, ' ' order by type) from tidegate.logs
                where user_id = '\(device.user.id)' and type like 'SYNC%'
                """
            ) == "SYNC_CLIENT_WRITE SYNC_ERROR SYNC_SESSION_START"
        }
    }
}
