public import BSON

extension Instruction {
    /// The byte it begins with.
    var number: UInt64 {
        switch self {
        case .addTable: InstructionNumber.addTable
        case .eraseTable: InstructionNumber.eraseTable
        case .createObject: InstructionNumber.createObject
        case .eraseObject: InstructionNumber.eraseObject
        case .update: InstructionNumber.update
        case .addInteger: InstructionNumber.addInteger
        case .addColumn: InstructionNumber.addColumn
        case .eraseColumn: InstructionNumber.eraseColumn
        case .arrayInsert: InstructionNumber.arrayInsert
        case .arrayMove: InstructionNumber.arrayMove
        case .arrayErase: InstructionNumber.arrayErase
        case .clear: InstructionNumber.clear
        case .setInsert: InstructionNumber.setInsert
        case .setErase: InstructionNumber.setErase
        }
    }

    /// The class that it is about.
    public var table: ByteText {
        switch self {
        case .addTable(let table, _), .eraseTable(let table), .eraseColumn(let table, _): table
        case .addColumn(let column): column.table
        case .createObject(let object), .eraseObject(let object): object.table
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert, .setErase:
            address?.object.table ?? ByteText("")
        }
    }

    /// The top-level object that it changes; nil for changes of the schema.
    public var object: ObjectAddress? {
        switch self {
        case .addTable, .eraseTable, .addColumn, .eraseColumn: nil
        case .createObject(let object), .eraseObject(let object): object
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert, .setErase:
            address?.object
        }
    }

    /// The value that it changes; nil for changes of whole objects and of the schema.
    public var address: ValueAddress? {
        get {
            switch self {
            case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn: nil
            case .update(let address, _, _), .addInteger(let address, _), .arrayInsert(let address, _, _),
                .arrayMove(let address, _, _), .arrayErase(let address, _), .clear(let address, _),
                .setInsert(let address, _), .setErase(let address, _):
                address
            }
        }
        set {
            guard let newValue else { return }
            switch self {
            case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn: break
            case .update(_, let payload, let form): self = .update(newValue, payload, form)
            case .addInteger(_, let number): self = .addInteger(newValue, number)
            case .arrayInsert(_, let payload, let size):
                self = .arrayInsert(newValue, payload, priorSize: size)
            case .arrayMove(_, let target, let size):
                self = .arrayMove(newValue, to: target, priorSize: size)
            case .arrayErase(_, let size): self = .arrayErase(newValue, priorSize: size)
            case .clear(_, let kind): self = .clear(newValue, kind)
            case .setInsert(_, let payload): self = .setInsert(newValue, payload)
            case .setErase(_, let payload): self = .setErase(newValue, payload)
            }
        }
    }

    /// The strings that the wire form refers to by number.
    func collectNames(into names: inout [ByteText]) {
        func add(_ object: ObjectAddress) {
            names.append(object.table)
            if case .string(let text) = object.key { names.append(text) }
        }
        func add(_ address: ValueAddress) {
            add(address.object)
            names.append(address.field)
            for case .key(let text) in address.path { names.append(text) }
        }
        func add(_ payload: Payload) {
            if case .link(let target) = payload { add(target) }
        }
        switch self {
        case .addTable(let table, let kind):
            names.append(table)
            switch kind {
            case .topLevel(let key), .asymmetric(let key): names.append(key.field)
            case .embedded: break
            }
        case .eraseTable(let table): names.append(table)
        case .createObject(let object), .eraseObject(let object): add(object)
        case .addColumn(let column):
            names += [column.table, column.field]
            if let target = column.target { names.append(target) }
        case .eraseColumn(let table, let field): names += [table, field]
        case .update(let address, let payload, _), .arrayInsert(let address, let payload, _),
            .setInsert(let address, let payload), .setErase(let address, let payload):
            add(address)
            add(payload)
        case .addInteger(let address, _), .arrayMove(let address, _, _), .arrayErase(let address, _),
            .clear(let address, _):
            add(address)
        }
    }
}
