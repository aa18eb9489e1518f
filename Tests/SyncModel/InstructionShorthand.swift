import BSON
package import Sync

/// A step of a path, written as a number or a text.
package enum Step: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    case index(UInt32)
    case key(String)

    package init(integerLiteral value: UInt32) { self = .index(value) }
    package init(stringLiteral value: String) { self = .key(value) }

    package var element: PathElement {
        switch self {
        case .index(let index): .index(index)
        case .key(let key): .key(ByteText(key))
        }
    }
}

/// A field of one object and a way below it, from which instructions are made.
package struct Place {
    package var address: ValueAddress

    package init(_ field: String, _ path: Step..., table: String = "T", key: Int64 = 1) {
        address = ValueAddress(
            object: Place.object(key, of: table),
            field: ByteText(field),
            path: path.map(\.element)
        )
    }

    package static func object(_ key: Int64, of table: String = "T") -> ObjectAddress {
        ObjectAddress(table: ByteText(table), key: .int(key))
    }

    package func set(_ value: Payload, isDefault: Bool = false) -> Instruction {
        .update(address, value, .value(isDefault: isDefault))
    }

    package func setElement(_ value: Payload, of size: UInt32) -> Instruction {
        .update(address, value, .element(priorSize: size))
    }

    package func add(_ amount: Int64) -> Instruction { .addInteger(address, amount) }
    package func insert(_ value: Payload, of size: UInt32) -> Instruction {
        .arrayInsert(address, value, priorSize: size)
    }
    package func move(to target: UInt32, of size: UInt32) -> Instruction {
        .arrayMove(address, to: target, priorSize: size)
    }
    package func erase(of size: UInt32) -> Instruction { .arrayErase(address, priorSize: size) }
    package func clear(_ kind: CollectionKind = .list) -> Instruction { .clear(address, kind) }
    package func insertIntoSet(_ value: Payload) -> Instruction { .setInsert(address, value) }
    package func eraseFromSet(_ value: Payload) -> Instruction { .setErase(address, value) }
}

extension Instruction {
    package static func create(_ key: Int64 = 1, of table: String = "T") -> Instruction {
        .createObject(Place.object(key, of: table))
    }

    package static func erase(_ key: Int64 = 1, of table: String = "T") -> Instruction {
        .eraseObject(Place.object(key, of: table))
    }

    package static func addClass(
        _ table: String = "T",
        key: String = "_id",
        _ type: Payload.Kind = .int,
        isNullable: Bool = false,
        isAsymmetric: Bool = false
    ) -> Instruction {
        let column = KeyColumn(field: ByteText(key), type: type, isNullable: isNullable)
        return .addTable(ByteText(table), isAsymmetric ? .asymmetric(column) : .topLevel(column))
    }

    package static func eraseClass(_ table: String = "T") -> Instruction { .eraseTable(ByteText(table)) }

    package static func addField(
        _ field: String,
        _ type: Payload.Kind = .int,
        in table: String = "T",
        isNullable: Bool = false,
        _ collection: CollectionKind = .single,
        to target: String? = nil
    ) -> Instruction {
        .addColumn(
            Column(
                table: ByteText(table),
                field: ByteText(field),
                type: type,
                isNullable: isNullable,
                collection: collection,
                target: target.map { ByteText($0) }
            )
        )
    }

    package static func eraseField(_ field: String, in table: String = "T") -> Instruction {
        .eraseColumn(table: ByteText(table), field: ByteText(field))
    }
}

extension Payload {
    package static func text(_ text: String) -> Payload { .string(ByteText(text)) }
}
