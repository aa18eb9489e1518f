import BSON
package import Sync
package import TestSupport

/// Changes as an application could make them to the state that it sees.
package struct RandomChanges: Sendable {
    package var random: SeededRandom
    /// The key of the first of the three objects.
    package var firstKey: Int64 = 0
    /// What every new object says of itself.
    package var labels: [(field: String, value: Payload)] = []
    /// How deep embedded objects may lie in one another.
    package var embeddingLimit = Int.max
    private var madeKeys = 0

    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    private static let maximumDepth = 3

    /// Some changes, applied to the state while they are made.
    package mutating func transaction(on state: inout RealmState, by file: UInt64) throws -> Changeset {
        var changeset = Changeset()
        for _ in 0...random.below(4) {
            for instruction in next(state, file) {
                try state.apply(instruction)
                changeset.instructions.append(instruction)
            }
        }
        return changeset
    }

    private mutating func next(_ state: RealmState, _ file: UInt64) -> [Instruction] {
        let object = ObjectAddress(table: ByteText("T"), key: .int(firstKey + Int64(random.below(3))))
        guard let fields = state.objects[object] else { return create(object) }
        if random.oneIn(25) {
            return random.oneIn(2) ? [.eraseObject(object)] : [.eraseObject(object)] + create(object)
        }
        return change(object, fields, RealmState.fields, file) { name in
            ValueAddress(object: object, field: name)
        }
    }

    private mutating func create(_ object: ObjectAddress) -> [Instruction] {
        var result: [Instruction] = [.createObject(object)]
        for (field, value) in labels {
            let address = ValueAddress(object: object, field: ByteText(field))
            result.append(.update(address, value, .value(isDefault: false)))
        }
        for name in ["s", "i"] where random.oneIn(2) {
            let address = ValueAddress(object: object, field: ByteText(name))
            result.append(.update(address, .int(number()), .value(isDefault: random.oneIn(2))))
        }
        return result
    }

    private mutating func change(
        _ object: ObjectAddress,
        _ fields: [ByteText: RealmState.Value],
        _ kinds: [String: RealmState.Kind],
        _ file: UInt64,
        _ address: (ByteText) -> ValueAddress
    ) -> [Instruction] {
        // In the order of names: that of a dictionary differs from run to run.
        let names = kinds.keys.sorted()
        let name = names[random.below(names.count)]
        guard let kind = kinds[name], let value = fields[ByteText(name)] else { return [] }
        return change(address(ByteText(name)), value, kind, file)
    }

    private mutating func change(
        _ address: ValueAddress,
        _ value: RealmState.Value,
        _ kind: RealmState.Kind,
        _ file: UInt64,
        _ form: Instruction.UpdateForm = .value(isDefault: false)
    ) -> [Instruction] {
        switch (kind, value) {
        case (.plain, _): return [changePlain(address)]
        case (.set, .set(let set)): return [changeSet(address, set)]
        case (.list(let element), .list(let list)): return changeList(address, list, element, file)
        case (.dictionary(let element), .dictionary(let dictionary)):
            return changeDictionary(address, dictionary, element, file)
        case (.object, .object(let fields)):
            switch random.below(8) {
            case 0: return [.update(address, .null, .value(isDefault: false))]
            case 1: return [.update(address, .null, .value(isDefault: false))] + embed(address)
            default: return change(address.object, fields, RealmState.embedded, file) { address.extended($0) }
            }
        case (.object, _): return address.embeddings <= embeddingLimit ? embed(address) : []
        case (.mixed, .list(let list)) where !random.oneIn(6): return changeList(address, list, .mixed, file)
        case (.mixed, .dictionary(let dictionary)) where !random.oneIn(6):
            return changeDictionary(address, dictionary, .mixed, file)
        case (.mixed, _):
            if case .plain(.int) = value, random.oneIn(4) { return [.addInteger(address, number())] }
            return begin(address, form)
        default: return []
        }
    }

    private mutating func changePlain(_ address: ValueAddress) -> Instruction {
        let isCounter = address.endsInField("i")
        if isCounter, random.oneIn(2) { return .addInteger(address, number()) }
        let value: Payload = random.oneIn(6) ? .null : isCounter ? .int(number()) : plain()
        return .update(address, value, .value(isDefault: false))
    }

    private mutating func changeSet(_ address: ValueAddress, _ set: Set<Payload>) -> Instruction {
        if random.oneIn(8) { return .clear(address, .set) }
        let value = Payload.int(Int64(random.below(4)))
        return set.contains(value) ? .setErase(address, value) : .setInsert(address, value)
    }

    private mutating func changeList(
        _ address: ValueAddress,
        _ list: [RealmState.Value],
        _ kind: RealmState.Kind,
        _ file: UInt64
    ) -> [Instruction] {
        let size = UInt32(list.count)
        if random.oneIn(20) { return clear(address, .list, .list) }
        guard !list.isEmpty, !random.oneIn(3) else {
            return insert(address.extended(UInt32(random.below(list.count + 1))), size, kind)
        }
        let index = random.below(list.count)
        let element = address.extended(UInt32(index))
        switch random.below(5) {
        case 0: return [.arrayErase(element, priorSize: size)]
        case 1 where list.count > 1:
            let target = (index + 1 + random.below(list.count - 1)) % list.count
            return [.arrayMove(element, to: UInt32(target), priorSize: size)]
        default:
            switch (kind, list[index]) {
            case (.plain, _): return [.update(element, plain(), .element(priorSize: size))]
            // An element that is replaced is sent as an erasure and an insert.
            case (.object, _) where random.oneIn(5):
                return [.arrayErase(element, priorSize: size)] + insert(element, size - 1, kind)
            case (.object, .object(let fields)):
                return change(address.object, fields, RealmState.embedded, file) { element.extended($0) }
            case (_, .list), (_, .dictionary):
                return change(element, list[index], .mixed, file, .element(priorSize: size))
            default: return begin(element, .element(priorSize: size))
            }
        }
    }

    private mutating func insert(
        _ element: ValueAddress,
        _ size: UInt32,
        _ kind: RealmState.Kind
    ) -> [Instruction] {
        switch kind {
        case .object:
            let field = element.extended(ByteText("x"))
            return [
                .arrayInsert(element, .objectValue, priorSize: size),
                .update(field, plain(), .value(isDefault: false)),
            ]
        case .mixed: return [.arrayInsert(element, mixed(element), priorSize: size)]
        default: return [.arrayInsert(element, plain(), priorSize: size)]
        }
    }

    private mutating func changeDictionary(
        _ address: ValueAddress,
        _ dictionary: [ByteText: RealmState.Value],
        _ kind: RealmState.Kind,
        _ file: UInt64
    ) -> [Instruction] {
        if random.oneIn(20) { return clear(address, .dictionary, .dictionary) }
        let keys = dictionary.keys.sorted { $0.text < $1.text }
        let key =
            keys.isEmpty || random.oneIn(3) ? ByteText("k\(random.below(3))") : keys[random.below(keys.count)]
        let element = address.extended(key)
        if dictionary[key] != nil, random.oneIn(4) {
            return [.update(element, .erased, .value(isDefault: false))]
        }
        switch (kind, dictionary[key]) {
        case (.object, .object(let fields)?):
            return change(address.object, fields, RealmState.embedded, file) { element.extended($0) }
        // realm-core replaces an object under a key whenever one is made there, so two devices that make one at
        // one key differ afterwards with realm-core's own merge; here no key is made twice.
        case (.object, _):
            madeKeys += 1
            return embed(address.extended(ByteText("f\(file)n\(madeKeys)")))
        case (.mixed, .list?), (.mixed, .dictionary?):
            return dictionary[key].map { change(element, $0, .mixed, file) } ?? []
        case (.mixed, _): return begin(element, .value(isDefault: false))
        default: return [.update(element, plain(), .value(isDefault: false))]
        }
    }

    /// Puts a value, or the beginning of a collection with something in it, where any value may stand.
    ///
    /// A collection is always cleared when it begins. Without that realm-core's own rules do not converge: two
    /// sides begin a list at one place and both stay, so the insert of one counts on that of the other; a third
    /// change, a value between the two in time, takes the earlier beginning with its insert away and yields to the
    /// later one, whose insert then counts on an element that is not there.
    private mutating func begin(_ address: ValueAddress, _ form: Instruction.UpdateForm) -> [Instruction] {
        let value = mixed(address)
        var result = [Instruction.update(address, value, form)]
        switch value {
        case .list: result.append(.clear(address, .list))
        case .dictionary: result.append(.clear(address, .dictionary))
        default: break
        }
        guard random.oneIn(2) else { return result }
        switch value {
        case .list:
            result.append(.arrayInsert(address.extended(UInt32(0)), plain(), priorSize: 0))
        case .dictionary:
            result.append(.update(address.extended(ByteText("k0")), plain(), .value(isDefault: false)))
        default: break
        }
        return result
    }

    /// Clears a collection; one under a key of a dictionary begins again first.
    ///
    /// There devices refuse a clearing alone when they have removed the key, even if they did so earlier: the merge
    /// drops the removal, and then nothing is there to be cleared.
    private func clear(_ address: ValueAddress, _ kind: CollectionKind, _ value: Payload) -> [Instruction] {
        guard case .key(let key)? = address.path.last, key.text.hasPrefix("k") else {
            return [.clear(address, kind)]
        }
        return [.update(address, value, .value(isDefault: false)), .clear(address, kind)]
    }

    private mutating func embed(_ address: ValueAddress) -> [Instruction] {
        var result = [Instruction.update(address, .objectValue, .value(isDefault: false))]
        if random.oneIn(2) {
            result.append(.update(address.extended(ByteText("x")), plain(), .value(isDefault: false)))
        }
        return result
    }

    private mutating func mixed(_ address: ValueAddress) -> Payload {
        guard address.path.count < Self.maximumDepth else { return plain() }
        switch random.below(5) {
        case 0, 1: return .list
        case 2: return .dictionary
        default: return plain()
        }
    }

    private mutating func plain() -> Payload {
        random.oneIn(2) ? .int(number()) : .string(ByteText("t\(random.below(1000))"))
    }

    private mutating func number() -> Int64 { Int64(random.below(100)) }
}

extension ValueAddress {
    fileprivate func extended(_ key: ByteText) -> ValueAddress {
        ValueAddress(object: object, field: field, path: path + [.key(key)])
    }

    fileprivate func extended(_ index: UInt32) -> ValueAddress {
        ValueAddress(object: object, field: field, path: path + [.index(index)])
    }

    /// How many embedded objects lie around the place.
    fileprivate var embeddings: Int { path.count { $0 == .key(ByteText("e")) } + 1 }

    /// Whether the last step is a field of this name, and not an element of a collection.
    fileprivate func endsInField(_ name: String) -> Bool {
        if path.isEmpty { return field.text == name }
        return path.last == .key(ByteText(name))
    }
}
