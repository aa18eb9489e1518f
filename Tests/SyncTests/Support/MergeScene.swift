import BSON
import Sync
import SyncModel
import Testing

/// Devices that start with the same object, change it apart, and meet.
struct MergeScene {
    private(set) var server = ModelServer()
    private(set) var devices: [ModelDevice]

    /// Files 2, 3 and so on, all with object 1 and what the instructions make of it.
    init(devices count: Int = 2, _ instructions: [Instruction] = []) throws {
        devices = (0..<count).map { ModelDevice(file: UInt64($0) + 2) }
        try change(0, at: 0, [.create()] + instructions)
        try meet()
    }

    mutating func change(_ device: Int, at time: Int64, _ instructions: [Instruction]) throws {
        try devices[device].change(at: time) { state throws in
            let changeset = Changeset(instructions)
            try state.apply(changeset)
            return changeset
        }
    }

    /// A write of the server's own.
    mutating func changeServer(at time: Int64, _ instructions: [Instruction]) throws {
        try server.change(at: time) { state throws in
            let changeset = Changeset(instructions)
            try state.apply(changeset)
            return changeset
        }
    }

    /// The named devices send everything; then they get everything.
    mutating func meet(_ chosen: Int...) throws {
        let present = chosen.isEmpty ? Array(devices.indices) : chosen
        for device in present { try send(device) }
        for device in present { try receive(device) }
    }

    mutating func send(_ device: Int, limit: Int = .max) throws {
        try server.integrate(Array(devices[device].unsent.prefix(limit)), from: devices[device].file)
    }

    mutating func receive(_ device: Int, limit: Int = .max) throws {
        let known = devices[device]
        try devices[device].receive(
            server.download(for: known.file, after: known.serverVersion, limit: limit)
        )
    }

    /// Whether everyone holds what the server holds.
    func expectAgreement(sourceLocation: SourceLocation = #_sourceLocation) {
        for device in devices {
            #expect(device.state == server.state, sourceLocation: sourceLocation)
        }
    }

    /// What the server holds at a place; nil when nothing is there.
    func value(at place: Place) -> RealmState.Value? { server.state.value(at: place.address) }
}

extension RealmState {
    func value(at address: ValueAddress) -> Value? {
        address.path.reduce(objects[address.object]?[address.field]) { value, step in
            switch (value, step) {
            case (.list(let list)?, .index(let index)): Int(index) < list.count ? list[Int(index)] : nil
            case (.dictionary(let dictionary)?, .key(let key)): dictionary[key]
            case (.object(let object)?, .key(let key)): object[key]
            default: nil
            }
        }
    }
}

extension RealmState.Value {
    static func int(_ number: Int64) -> RealmState.Value { .plain(.int(number)) }
    static func text(_ text: String) -> RealmState.Value { .plain(.text(text)) }
    static func ints(_ numbers: Int64...) -> RealmState.Value { .list(numbers.map { .int($0) }) }
    static func texts(_ texts: String...) -> RealmState.Value { .list(texts.map { .text($0) }) }
    static func keys(_ values: [String: RealmState.Value]) -> RealmState.Value {
        .dictionary(Dictionary(uniqueKeysWithValues: values.map { (ByteText($0.key), $0.value) }))
    }
}
