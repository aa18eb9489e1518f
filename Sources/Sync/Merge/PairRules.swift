import BSON

/// What two instructions of equal rank do to each other.
///
/// Each pair is written once: the first of the two has the higher number on the wire, or the same.
///
/// Source: `realm-sync-protocol.md` §8.2. Pairs that are not there do not interact.
enum PairRules {
    /// Rewrites or discards either one.
    static func apply(
        _ left: inout Encounter.Party,
        _ right: inout Encounter.Party
    ) throws(SyncFault) {
        guard let one = left.instruction, let other = right.instruction else { return }
        if one.address != nil, other.address != nil {
            return try ValueRules.apply(&left, &right)
        }
        switch (one, other) {
        case (.addTable(let table, let kind), .addTable(let otherTable, let otherKind))
        where table == otherTable:
            try SchemaRules.agree(table, kind, otherKind)
            left.discard()
            right.discard()
        case (.eraseTable(let table), .addTable(let otherTable, _)) where table == otherTable: right.discard()
        case (.eraseTable(let table), .eraseTable(let otherTable)) where table == otherTable:
            left.discard()
            right.discard()
        case (.addColumn(let column), .eraseTable(let table)) where column.target == table:
            right.precede(with: .eraseColumn(table: column.table, field: column.field))
            left.discard()
        case (.addColumn(let column), .addColumn(let otherColumn))
        where column.table == otherColumn.table && column.field == otherColumn.field:
            try SchemaRules.agree(column, otherColumn)
            left.discard()
            right.discard()
        case (.eraseColumn(let table, let field), .addColumn(let column))
        where column.table == table && column.field == field:
            right.discard()
        case (.eraseColumn(let table, let field), .eraseColumn(let otherTable, let otherField))
        where table == otherTable && field == otherField:
            left.discard()
            right.discard()
        case (.eraseObject(let object), .createObject(let other)) where object == other: right.discard()
        case (.eraseObject(let object), .eraseObject(let other)) where object == other:
            // The later one stays, since it may be followed by the object's new creation.
            if left.isLater { right.discard() } else { left.discard() }
        case (.eraseColumn(let table, let field), _): discardValue(of: table, field, &right, other)
        case (_, .eraseColumn(let table, let field)): discardValue(of: table, field, &left, one)
        default: break
        }
    }

    /// realm-core discards updates alone; whatever else changes a field that is gone could only be refused.
    private static func discardValue(
        of table: ByteText,
        _ field: ByteText,
        _ party: inout Encounter.Party,
        _ instruction: Instruction
    ) {
        guard let address = instruction.address else { return }
        if address.field == field, address.object.table == table { party.discard() }
    }
}

/// When two definitions are one.
enum SchemaRules {
    /// Nothing, or the fault that names what differs.
    static func agree(
        _ table: ByteText,
        _ left: Instruction.TableKind,
        _ right: Instruction.TableKind
    ) throws(SyncFault) {
        switch (left, right) {
        case (.topLevel(let key), .topLevel(let other)), (.asymmetric(let key), .asymmetric(let other)):
            guard key.field == other.field else { throw mismatch(table, "primary keys of different names") }
            guard key.type == other.type else { throw mismatch(table, "primary keys of different types") }
            guard key.isNullable == other.isNullable else {
                throw mismatch(table, "a primary key that is required on one side alone")
            }
        case (.embedded, .embedded): break
        case (.embedded, _), (_, .embedded): throw mismatch(table, "embedded objects on one side alone")
        default: throw mismatch(table, "an asymmetric class on one side alone")
        }
    }

    /// Nothing, or the fault that names what differs.
    static func agree(_ left: Instruction.Column, _ right: Instruction.Column) throws(SyncFault) {
        let difference =
            left.type != right.type
            ? "different types"
            : left.isNullable != right.isNullable
                ? "null allowed on one side alone"
                : left.collection != right.collection
                    ? "different collections" : left.target != right.target ? "different targets" : nil
        guard let difference else { return }
        throw SyncFault(
            .badChangeset,
            "the property '\(left.field.text)' of the class '\(left.table.text)' has \(difference)"
        )
    }

    private static func mismatch(_ table: ByteText, _ what: String) -> SyncFault {
        SyncFault(.badChangeset, "the class '\(table.text)' has \(what)")
    }
}
