import Sync
import SyncModel
import Testing

/// Whole exchanges: what was observed with a device, and the cases of realm-core's `test_transform.cpp`.
@Suite("Devices that meet")
struct SceneTests {
    static let int = Place("i")
    static let list = Place("li")
    static func at(_ index: UInt32) -> Place { Place("li", Step.index(index)) }

    /// `realm-sync-protocol.md` §7.3.
    @Test("comes to what a real device came to")
    func observed() throws {
        let text = Place("s")
        var scene = try MergeScene(
            devices: 1,
            [
                text.set(.text("orig")), Self.int.set(.int(1)), Self.at(0).insert(.int(1), of: 0),
                Self.at(1).insert(.int(2), of: 1),
            ]
        )
        let own = [text.set(.text("local")), Self.int.set(.int(2)), Self.at(2).insert(.int(3), of: 2)]
        try scene.change(0, at: 10_000, own)
        try scene.changeServer(at: 6400, [text.set(.text("server-old"))])
        try scene.changeServer(at: 13_600, [Self.int.set(.int(777))])
        let elements = [Self.at(0).insert(.int(100), of: 0), Self.at(1).insert(.int(101), of: 1)]
        try scene.changeServer(at: 6400, [Self.list.clear()] + elements)
        try scene.receive(0)
        #expect(scene.devices[0].unsent.map(\.entry.changeset.instructions) == [own])
        #expect(scene.devices[0].unsent.map(\.base) == [1])
        try scene.send(0)
        #expect(scene.server.history.last?.entry.changeset.instructions == [text.set(.text("local"))])
        scene.expectAgreement()
        #expect(scene.value(at: text) == .text("local"))
        #expect(scene.value(at: Self.int) == .int(777))
        #expect(scene.value(at: Self.list) == .ints(100, 101))
    }

    @Test("adds what is later than a set")
    func additions() throws {
        var scene = try MergeScene([Self.int.set(.int(0))])
        try scene.change(0, at: 1, [Self.int.add(5)])
        try scene.change(1, at: 1, [Self.int.add(4)])
        try scene.meet()
        try scene.meet()
        #expect(scene.value(at: Self.int) == .int(9))
        try scene.change(1, at: 1, [Self.int.add(2)])
        try scene.change(0, at: 10, [Self.int.set(.int(100))])
        try scene.change(1, at: 20, [Self.int.add(3)])
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: Self.int) == .int(103))
    }

    @Test("adds nothing to null", arguments: [[0, 1], [1, 0]])
    func additionsToNull(order: [Int]) throws {
        var scene = try MergeScene([Self.int.set(.int(0))])
        try scene.change(1, at: 1, [Self.int.add(2)])
        try scene.change(0, at: 10, [Self.int.set(.null)])
        try scene.change(1, at: 20, [Self.int.add(3)])
        for device in order { try scene.meet(device) }
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: Self.int) == .plain(.null))
    }

    static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    @Test("keeps an addition for a set that comes after null", arguments: orders)
    func additionAndNull(order: [Int]) throws {
        var scene = try MergeScene(devices: 3, [Self.int.set(.int(0))])
        try scene.change(order[0], at: 1, [Self.int.set(.null)])
        try scene.change(order[1], at: 3, [Self.int.add(1)])
        try scene.meet(order[0], order[1])
        #expect(scene.value(at: Self.int) == .plain(.null))
        try scene.change(order[2], at: 2, [Self.int.set(.int(10))])
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: Self.int) == .int(11))
    }

    @Test("an addition survives defaults", arguments: orders)
    func additionAndDefaults(order: [Int]) throws {
        var scene = try MergeScene(devices: 3, [Self.int.set(.int(0), isDefault: true)])
        try scene.change(order[0], at: 1, [Self.int.set(.int(1))])
        try scene.change(order[1], at: 2, [Self.int.add(1)])
        try scene.change(order[2], at: 3, [Self.int.set(.int(10), isDefault: true)])
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: Self.int) == .int(2))
    }

    @Test("an addition is made to the later of two defaults", arguments: orders)
    func additionToDefaults(order: [Int]) throws {
        var scene = try MergeScene(devices: 3, [Self.int.set(.int(0), isDefault: true)])
        try scene.change(order[0], at: 1, [Self.int.set(.int(1), isDefault: true)])
        try scene.change(order[1], at: 2, [Self.int.set(.int(10), isDefault: true)])
        try scene.change(order[2], at: 3, [Self.int.add(1)])
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: Self.int) == .int(11))
    }

    @Test("one object made by two keeps what was set over defaults")
    func defaults() throws {
        var scene = try MergeScene()
        let other = Place("i", key: 7)
        try scene.change(0, at: 1, [.create(7), other.set(.int(456))])
        try scene.change(1, at: 100, [.create(7), other.set(.int(789), isDefault: true)])
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: other) == .int(456))
    }

    @Test("a list cleared by two has what the later one put into it")
    func clearings() throws {
        var scene = try MergeScene([Self.at(0).insert(.int(1), of: 0), Self.at(1).insert(.int(2), of: 1)])
        for (device, values) in [(0, [3, 4]), (1, [5, 6] as [Int64])] {
            let elements = [
                Self.at(0).insert(.int(values[0]), of: 0), Self.at(1).insert(.int(values[1]), of: 1),
            ]
            try scene.change(device, at: Int64(device) + 1, [Self.list.clear()] + elements)
        }
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: Self.list) == .ints(5, 6))
    }

    @Test("an object erased and made again by two is that of the later one", arguments: [[0, 1], [1, 0]])
    func recreation(order: [Int]) throws {
        var scene = try MergeScene([Self.int.set(.int(0))])
        let again = [Instruction.erase(), .create(), Self.int.set(.int(1)), .erase(), .create()]
        try scene.change(order[0], at: 1, again + [Self.int.set(.int(11))])
        try scene.change(order[1], at: 2, [.erase(), .create(), Self.int.set(.int(2))])
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: Self.int) == .int(2))
    }

    @Test("an object made and erased is gone, whoever made it as well", arguments: [[0, 1], [1, 0]])
    func creationAndErasure(order: [Int]) throws {
        var scene = try MergeScene()
        try scene.change(order[0], at: 1, [.create(7), Place("i", key: 7).set(.int(500)), .erase(7)])
        try scene.change(order[1], at: 2, [.create(7)])
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.server.state.objects[Place.object(7)] == nil)
    }

    @Test("a dictionary filled by two has all keys")
    func dictionaries() throws {
        func key(_ key: String) -> Place { Place("d", .key(key)) }
        var scene = try MergeScene([key("key").set(.int(42))])
        try scene.change(
            0,
            at: 1,
            [key("key").set(.erased), key("a").set(.int(1)), key("b").set(.text("Hello"))]
        )
        try scene.change(
            1,
            at: 1,
            [key("key").set(.erased), key("b").set(.text("World")), key("d").set(.bool(true))]
        )
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        let all: RealmState.Value = .keys(["a": .int(1), "b": .text("World"), "d": .plain(.bool(true))])
        #expect(scene.value(at: Place("d")) == all)
    }

    @Test("a set filled and taken from by two")
    func sets() throws {
        let set = Place("st")
        var scene = try MergeScene()
        try scene.change(0, at: 1, [set.insertIntoSet(.int(999)), set.insertIntoSet(.text("Hello"))])
        let other = [set.insertIntoSet(.int(999)), set.insertIntoSet(.text("World"))]
        let doubt = [set.eraseFromSet(.int(999)), set.insertIntoSet(.int(999)), set.eraseFromSet(.int(999))]
        try scene.change(1, at: 1, other + doubt)
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: set) == .set([.text("Hello"), .text("World")]))
        try scene.change(0, at: 2, [set.clear(.set), set.insertIntoSet(.int(1))])
        try scene.change(1, at: 3, [set.insertIntoSet(.int(2)), set.eraseFromSet(.text("Hello"))])
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
        #expect(scene.value(at: set) == .set([.int(1)]))
    }

    @Test("three devices insert and erase at one place while they hear of each other late")
    func erasures() throws {
        func insert(_ text: String, of size: UInt32) -> [Instruction] {
            [Self.at(0).insert(.text(text), of: size)]
        }
        var scene = try MergeScene(devices: 3)
        try scene.change(2, at: 2, insert("5abc", of: 0))
        try scene.change(1, at: 2, insert("4abc", of: 0))
        try scene.send(2)
        try scene.receive(1, limit: 1)
        try scene.send(1)
        try scene.change(0, at: 1, insert("3abc", of: 0))
        try scene.change(2, at: 3, insert("5def", of: 1))
        try scene.receive(1)
        try scene.send(0)
        try scene.send(2)
        try scene.change(1, at: 4, [Self.at(0).erase(of: 2)])
        try scene.receive(2, limit: 1)
        try scene.change(2, at: 3, [Self.at(0).erase(of: 2)])
        try scene.send(1)
        try scene.send(2)
        try scene.meet()
        try scene.meet()
        scene.expectAgreement()
    }
}
