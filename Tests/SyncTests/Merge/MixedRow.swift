import Sync
import SyncModel
import Testing

/// Where a mixed value is, and what has to be there first.
struct MixedSpot {
    let place: Place
    /// The size of the list in which the value is an element.
    var size: UInt32?
    var setup: [Instruction] = []

    static let field = MixedSpot(place: Place("m"))
    static let all = [
        field,
        MixedSpot(place: Place("dm", "A")),
        MixedSpot(place: Place("lm", 0), size: 1, setup: [Place("lm", 0).insert(.null, of: 0)]),
        MixedSpot(
            place: Place("m", "A", 0, "B"),
            setup: [
                Place("m").set(.dictionary), Place("m", "A").set(.list),
                Place("m", "A", 0).insert(.dictionary, of: 0),
            ]
        ),
    ]

    func set(_ value: Payload) -> Instruction {
        size.map { place.setElement(value, of: $0) } ?? place.set(value)
    }

    func add(_ value: Payload, at index: UInt32) -> Instruction {
        below(.index(index)).insert(value, of: index)
    }

    func put(_ value: Payload, under key: String) -> Instruction { below(.key(key)).set(value) }

    func clear(_ kind: CollectionKind) -> Instruction { place.clear(kind) }

    private func below(_ step: Step) -> Place {
        var place = place
        place.address.path.append(step.element)
        return place
    }
}

/// Two changes apart of one mixed value, and what comes of them wherever it is.
struct MixedRow: Sendable, CustomTestStringConvertible {
    enum Time: Int64 {
        case before = 1
        case after = 3
    }

    let name: String
    var isFieldOnly = false
    let base: @Sendable (MixedSpot) -> [Instruction]
    let first: @Sendable (MixedSpot) -> [Instruction]
    let time: Time
    let second: @Sendable (MixedSpot) -> [Instruction]
    let result: RealmState.Value
    var testDescription: String { name }

    init(
        _ name: String,
        isFieldOnly: Bool = false,
        from base: @Sendable @escaping (MixedSpot) -> [Instruction] = { [$0.set(.null)] },
        _ first: @Sendable @escaping (MixedSpot) -> [Instruction],
        _ time: Time,
        _ second: @Sendable @escaping (MixedSpot) -> [Instruction],
        gives result: RealmState.Value
    ) {
        self.name = name
        self.isFieldOnly = isFieldOnly
        self.base = base
        self.first = first
        self.time = time
        self.second = second
        self.result = result
    }

    func check(at spot: MixedSpot) throws {
        for firstSends in [0, 1] {
            var scene = try MergeScene(spot.setup + base(spot))
            try scene.change(0, at: time.rawValue, first(spot))
            try scene.change(1, at: 2, second(spot))
            try scene.meet(firstSends)
            try scene.meet()
            try scene.meet()
            scene.expectAgreement()
            #expect(scene.value(at: spot.place) == result, "at \(spot.place.address)")
        }
    }
}
