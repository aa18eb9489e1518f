import Synchronization
import Testing
import Threading

/// Work that ends when it is told to, or when it is cancelled.
private final class Guest: Sendable {
    private let gate = AsyncStream.makeStream(of: Void.self)
    private let hasBegun = AsyncStream.makeStream(of: Void.self)

    func stay() async {
        hasBegun.continuation.finish()
        for await _ in gate.stream {}
    }

    func begun() async { for await _ in hasBegun.stream {} }

    func go() { gate.continuation.finish() }
}

/// What tasks counted and saw.
private final class Notes: Sendable {
    @TaskLocal static var mark = 0
    private let numbers = Mutex<[Int]>([])

    func add(_ number: Int = 0) { numbers.withLock { $0.append(number) } }
    var all: [Int] { numbers.withLock { $0 } }
}

@Suite("A crowd of child tasks")
struct TaskCrowdTests {
    @Test("does all work, also what comes while a host leaves", arguments: [1, 3, 128])
    func all(places: Int) async {
        let crowd = TaskCrowd(places: places)
        let done = Notes()
        await withDiscardingTaskGroup { group in
            for _ in 0..<5000 {
                group.addTask {
                    await crowd.run {
                        await Task.yield()
                        done.add()
                    }
                }
            }
        }
        #expect(done.all.count == 5000)
    }

    @Test("lets a child go whose work is with a host, and the host when all of it is done")
    func hosts() async {
        let crowd = TaskCrowd(places: 1)
        let guests = [Guest(), Guest(), Guest()]
        let over = Notes()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await crowd.run { await guests[0].stay() }
                over.add()
            }
            await guests[0].begun()
            // Both are over before the work is.
            await crowd.run { await guests[1].stay() }
            await crowd.run { await guests[2].stay() }
            await guests[1].begun()
            await guests[2].begun()
            guests[0].go()
            guests[2].go()
            #expect(over.all.isEmpty)
            guests[1].go()
        }
        #expect(over.all.count == 1)
        // The place is as it was.
        let last = Guest()
        last.go()
        await crowd.run { await last.stay() }
        await last.begun()
    }

    @Test("cancels all work with the group that it is of, and leaves none out")
    func cancelling() async {
        let crowd = TaskCrowd(places: 2)
        let ended = Notes()
        let first = Guest()
        let work: TaskCrowd.Work = {
            let guest = Guest()
            await guest.stay()
            if Task.isCancelled { ended.add() }
        }
        await withDiscardingTaskGroup { group in
            group.addTask { await crowd.run { await first.stay() } }
            await first.begun()
            for _ in 0..<100 { group.addTask { await crowd.run(work) } }
            group.cancelAll()
            for _ in 0..<100 { group.addTask { await crowd.run(work) } }
        }
        #expect(ended.all.count == 200)
    }

    @Test("hands the values of the group's task on")
    func values() async {
        let crowd = TaskCrowd(places: 1)
        let seen = Notes()
        await Notes.$mark.withValue(7) {
            await withDiscardingTaskGroup { group in
                for _ in 0..<10 {
                    group.addTask { await crowd.run { seen.add(Notes.mark) } }
                }
            }
        }
        #expect(seen.all == Array(repeating: 7, count: 10))
    }
}
