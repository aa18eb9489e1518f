import Foundation
import TestSupport
import Testing

// Gateways are started and stopped here: one at a time.
@Suite("A watch that goes on", .serialized)
struct WatchResumeTests {
    private let tag = UUID().uuidString
    private var mine: String { #""filter":{"fullDocument.tag":"\#(tag)"}"# }

    private func insert(_ call: ServiceCall, _ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            let answer = try await call("insertOne", #""document":{"tag":"\#(tag)","n":\#(number)}"#)
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test("begins behind the event whose token it has: on the same gateway, on another, after a restart")
    func resuming() async throws {
        let call = try await ServiceCall.start()
        let first = try await call.watch(mine)
        try await insert(call, 1...3)
        try await first.has(3)
        let token = first.tokens[0]
        first.stop()
        // Nobody watches meanwhile.
        try await insert(call, 4...5)
        let more = #"\#(mine),"resumeAfter":{"_data":"\#(token)"}"#
        let again = try await call.watch(more)
        try await again.has(4)
        #expect(again.numbers == [2, 3, 4, 5])
        for name in ["watch-one", "watch-two"] {
            let other = try await RunningServer.start(besides: call.api.server, name: name)
            let elsewhere = try await call.watch(more, by: APICaller(server: other, app: call.api.app))
            try await elsewhere.has(4)
            #expect(elsewhere.numbers == [2, 3, 4, 5])
            #expect(elsewhere.tokens[3] == again.tokens[3])
            other.stop()
            try await eventually { elsewhere.isOver }
            #expect(elsewhere.failure?.contains("MaintenanceInProgress") == true, "\(elsewhere.text)")
        }
        try await insert(call, 6...6)
        try await again.has(5)
    }

    @Test("is refused where changes are missing, and where the token is another collection's")
    func lost() async throws {
        let call = try await ServiceCall.start("Late3")
        let watch = try await call.watch()
        try await insert(call, 1...2)
        try await watch.has(2)
        let token = watch.tokens[0]
        let other = ServiceCall(api: call.api, user: call.user, collection: "Bytes")
        let foreign = try other.watchUnasked(#""resumeAfter":{"_data":"\#(token)"}"#)
        try await eventually { foreign.isOver }
        #expect(foreign.text.contains(#""code":260"#), "\(foreign.text)")
        let after = #""startAfter":{"_data":"\#(token)"}"#
        try await call.watch(after).has(1)
        // What happens while the log is off is nowhere.
        let database = call.api.server.database
        try Shell.psql(
            database,
            """
            select tidegate.set_listener('todo', 'Late3', 'watch', false);
            insert into todo."Late3" (doc) values ('{"_id": "unlogged"}')
            """
        )
        let gap = try call.watchUnasked(after)
        try await eventually { gap.isOver }
        #expect(gap.text.contains(#""code":286"#), "\(gap.text)")
        // Nor is what has been forgotten.
        let again = try await call.watch()
        try await insert(call, 3...4)
        try await again.has(2)
        let recent = #""resumeAfter":{"_data":"\#(again.tokens[0])"}"#
        try await call.watch(recent).has(1)
        try Shell.psql(database, "select tidegate.trim_changes('0')")
        let forgotten = try call.watchUnasked(recent)
        try await eventually { forgotten.isOver }
        #expect(forgotten.text.contains(#""code":286"#), "\(forgotten.text)")
    }

    @Test("sees every change of many writers once, across gateways and reconnects")
    func nothingLost() async throws {
        let call = try await ServiceCall.start()
        let servers =
            [call.api.server] + [
                try await RunningServer.start(besides: call.api.server, name: "watch-a"),
                try await RunningServer.start(besides: call.api.server, name: "watch-b"),
            ]
        let apis = servers.map { APICaller(server: $0, app: call.api.app) }
        var watches: [WatchClient] = []
        for index in 0..<12 { watches.append(try await call.watch(mine, by: apis[index % 3])) }
        // One reads a little, goes, and comes back, again and again.
        let beginning = try await call.watch(mine)
        let restless = Task { [mine] in
            var seen: [String] = []
            var watch = beginning
            while true {
                let wanted = min(7, 200 - seen.count)
                try await eventually { watch.events.count >= wanted || watch.isOver }
                let tokens = watch.tokens
                seen += tokens
                watch.stop()
                guard seen.count < 200, let last = tokens.last else { return seen }
                watch = try await call.watch(
                    #"\#(mine),"resumeAfter":{"_data":"\#(last)"}"#,
                    by: apis[seen.count % 3]
                )
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                let tag = tag
                group.addTask {
                    let documents = (0..<5).map { _ in #"{"tag":"\#(tag)","n":\#(writer)}"# }
                    for _ in 0..<5 {
                        let answer = try await apis[writer % 3].act(
                            "insertMany",
                            "Open",
                            #""documents":[\#(documents.joined(separator: ","))]"#,
                            as: call.user.bearer
                        )
                        #expect(answer.status == 201, "\(answer.text)")
                    }
                }
            }
            try await group.waitForAll()
        }
        for watch in watches {
            try await watch.has(200)
            #expect(Set(watch.tokens).count == 200)
            // All see the same, in the same order.
            #expect(watch.events == watches[0].events)
        }
        let seen = try await restless.value
        #expect(seen == watches[0].tokens)
        for server in servers.dropFirst() { server.stop() }
    }
}
