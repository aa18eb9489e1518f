import BSON
import Schemas

/// Says what changed between two states of an object as few instructions.
struct DifferenceWriter {
    /// Writes what begins to exist.
    var state: StateWriter

    /// An element or value with its form on the wire.
    private struct Item {
        var value: BSONValue
        var payload: Payload

        /// Whether nothing needs to be said; of collections only what is the same to the bit.
        func isSame(_ other: Item) -> Bool {
            if payload != other.payload { return false }
            switch payload {
            case .objectValue, .list, .dictionary: return value == other.value
            default: return true
            }
        }
    }

    /// A property of the object or of one embedded in it.
    mutating func field(
        _ property: SyncProperty,
        _ before: BSONValue?,
        _ after: BSONValue?,
        at path: StateWriter.Path
    ) {
        if let before, let after, before == after { return }
        let before = before ?? property.defaultValue
        let after = after ?? property.defaultValue
        let path = path + [.key(property.name)]
        let type = property.type
        switch property.collection {
        case .single:
            let old = before.flatMap { item($0, type) } ?? Item(value: .null, payload: .null)
            guard let new = after.map({ item($0, type) }) ?? Item(value: .null, payload: .null),
                new.payload != .null || property.isNullable
            else { return }
            change(old, new, type, at: path)
        case .list:
            list(before?.array ?? [], after?.array ?? [], type, property.isNullable, at: path)
        case .dictionary:
            dictionary(before?.document ?? [:], after?.document ?? [:], type, property.isNullable, at: path)
        case .set: set(before?.array ?? [], after?.array ?? [], property, at: path)
        }
    }

    private func item(_ value: BSONValue, _ type: SyncType) -> Item? {
        state.schema.payload(value, as: type).map { Item(value: value, payload: $0) }
    }

    /// A field's value, or that of a key.
    private mutating func change(_ old: Item, _ new: Item, _ type: SyncType, at path: StateWriter.Path) {
        if old.isSame(new) || inside(old, new, type, at: path) { return }
        state.set(path, new.payload)
        state.contents(new.value, new.payload, type, isFresh: true, at: path)
    }

    /// Changes within a collection or object that stays what it is; false when it does not.
    private mutating func inside(_ old: Item, _ new: Item, _ type: SyncType, at path: StateWriter.Path)
        -> Bool
    {
        guard old.payload == new.payload else { return false }
        switch (new.payload, type, old.value, new.value) {
        case (.objectValue, .embedded(let name), .document(let before), .document(let after)):
            for property in state.schema[name]?.properties ?? [] {
                field(property, before[property.name.text], after[property.name.text], at: path)
            }
        case (.list, _, .array(let before), .array(let after)): list(before, after, .mixed, true, at: path)
        case (.dictionary, _, .document(let before), .document(let after)):
            dictionary(before, after, .mixed, true, at: path)
        default: return false
        }
        return true
    }

    private func items(_ values: [BSONValue], _ type: SyncType, _ isNullable: Bool) -> [Item] {
        values.compactMap { value in
            guard let item = item(value, type), isNullable || item.payload != .null else { return nil }
            return item
        }
    }

    /// Keeps what both lists begin and end with, and changes what lies between place by place.
    private mutating func list(
        _ before: [BSONValue],
        _ after: [BSONValue],
        _ type: SyncType,
        _ isNullable: Bool,
        at path: StateWriter.Path
    ) {
        let old = items(before, type, isNullable)
        let new = items(after, type, isNullable)
        let shared = min(old.count, new.count)
        var start = 0
        while start < shared, old[start].isSame(new[start]) { start += 1 }
        var kept = 0
        while kept < shared - start, old[old.count - 1 - kept].isSame(new[new.count - 1 - kept]) { kept += 1 }
        var size = UInt32(old.count)
        let changed = shared - kept
        for place in start..<Swift.max(start, changed) where !old[place].isSame(new[place]) {
            let here = path + [.index(UInt32(place))]
            replace(old[place], new[place], type, at: here, size)
        }
        for place in (Swift.max(start, changed)..<(old.count - kept)).reversed() {
            let here = path + [.index(UInt32(place))]
            state.instructions.append(.arrayErase(state.address(here), priorSize: size))
            size -= 1
        }
        for place in Swift.max(start, changed)..<(new.count - kept) {
            if state.insert(new[place].value, type, at: path, UInt32(place), priorSize: size) { size += 1 }
        }
    }

    private mutating func replace(
        _ old: Item,
        _ new: Item,
        _ type: SyncType,
        at path: StateWriter.Path,
        _ size: UInt32
    ) {
        if inside(old, new, type, at: path) { return }
        state.instructions.append(.update(state.address(path), new.payload, .element(priorSize: size)))
        state.contents(new.value, new.payload, type, isFresh: true, at: path)
    }

    private mutating func dictionary(
        _ before: BSONDocument,
        _ after: BSONDocument,
        _ type: SyncType,
        _ isNullable: Bool,
        at path: StateWriter.Path
    ) {
        let oldFields = FieldIndex(before)
        let newFields = FieldIndex(after)
        func usable(_ value: BSONValue?) -> Item? {
            value.flatMap { item($0, type) }.flatMap { isNullable || $0.payload != .null ? $0 : nil }
        }
        for field in before where usable(field.value) != nil && usable(newFields[field.key]) == nil {
            state.set(path + [.key(ByteText(field.key))], .erased)
        }
        for field in after {
            guard let new = usable(field.value) else { continue }
            let here = path + [.key(ByteText(field.key))]
            if let old = usable(oldFields[field.key]) {
                change(old, new, type, at: here)
            } else {
                state.set(here, new.payload)
                state.contents(new.value, new.payload, type, isFresh: true, at: here)
            }
        }
    }

    private mutating func set(
        _ before: [BSONValue],
        _ after: [BSONValue],
        _ property: SyncProperty,
        at path: StateWriter.Path
    ) {
        let old = state.members(before, property)
        let new = state.members(after, property)
        let address = state.address(path)
        for (key, payload) in old.members where !new.contains(key) {
            state.instructions.append(.setErase(address, payload))
        }
        for (key, payload) in new.members where !old.contains(key) {
            state.instructions.append(.setInsert(address, payload))
        }
    }
}
