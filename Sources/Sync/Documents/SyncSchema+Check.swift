import BSON

extension SyncSchema {
    /// Holds a change of a device's schema against this one: what is equal passes.
    ///
    /// Instructions about objects pass too; other checks are theirs. Source: `sync-semantics.md` §13.2.
    ///
    /// - Throws: ``SyncFault`` with `invalidSchemaChange`, naming class and property.
    public func check(_ instruction: Instruction) throws(SyncFault) {
        switch instruction {
        case .addTable(let name, let kind): try check(table: name, kind)
        case .addColumn(let column): try check(column)
        case .eraseTable(let name):
            throw SyncFault(.invalidSchemaChange, "clients cannot remove the class \(quoted(name))")
        case .eraseColumn(let table, let field):
            throw SyncFault(
                .invalidSchemaChange,
                "clients cannot remove the property \(quoted(field)) of class \(quoted(table))"
            )
        case .createObject, .eraseObject, .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear,
            .setInsert, .setErase:
            break
        }
    }

    private func check(table name: ByteText, _ kind: Instruction.TableKind) throws(SyncFault) {
        let type = try type(name)
        guard type.kind != kind else { return }
        let found = kindText(kind)
        throw SyncFault(
            .invalidSchemaChange,
            "class \(quoted(name)) is \(kindText(type.kind)) in the app's schema, but \(found) on the client"
        )
    }

    private func check(_ column: Instruction.Column) throws(SyncFault) {
        let type = try type(column.table)
        let expected: Instruction.Column
        if let key = type.keyColumn, key.field == column.field {
            expected = Instruction.Column(
                table: type.name,
                field: key.field,
                type: key.type,
                isNullable: key.isNullable
            )
        } else if let property = type.property(column.field) {
            expected = property.column(in: type.name)
        } else {
            throw SyncFault(
                .invalidSchemaChange,
                """
                property \(quoted(column.field)) of class \(quoted(column.table)) is not in the app's schema, and \
                clients may add properties in development mode only
                """
            )
        }
        guard !expected.isSame(as: column) else { return }
        throw SyncFault(
            .invalidSchemaChange,
            """
            property \(quoted(column.field)) of class \(quoted(column.table)) is \(columnText(expected)) in the \
            app's schema, but \(columnText(column)) on the client
            """
        )
    }

    private func type(_ name: ByteText) throws(SyncFault) -> SyncClass {
        guard let type = self[name] else {
            throw SyncFault(
                .invalidSchemaChange,
                "class \(quoted(name)) is not in the app's schema, and clients may add classes in development mode only"
            )
        }
        return type
    }

    private func kindText(_ kind: Instruction.TableKind) -> String {
        switch kind {
        case .embedded: "embedded"
        case .topLevel(let key): "top-level with the primary key \(keyText(key))"
        case .asymmetric(let key): "asymmetric with the primary key \(keyText(key))"
        }
    }

    private func keyText(_ key: Instruction.KeyColumn) -> String {
        "\(quoted(key.field)) of type \(key.isNullable ? "optional " : "")\(key.type.name)"
    }

    private func columnText(_ column: Instruction.Column) -> String {
        let type = (column.isNullable ? "optional " : "") + column.type.name
        let target = column.target.map { " to \(quoted($0))" } ?? ""
        return switch column.collection {
        case .single: type + target
        case .list: "a list of \(type)\(target)"
        case .dictionary: "a dictionary of \(type)\(target)"
        case .set: "a set of \(type)\(target)"
        }
    }
}

/// A name in the quotation marks of messages.
func quoted(_ name: ByteText) -> String { "\"\(name.text)\"" }

extension Payload.Kind {
    /// The name in messages.
    var name: String {
        switch self {
        case .null: "mixed"
        case .int: "int"
        case .bool: "bool"
        case .string: "string"
        case .binary: "binary"
        case .timestamp: "date"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal128"
        case .link: "link"
        case .objectID: "objectId"
        case .uuid: "uuid"
        case .objectValue: "embedded object"
        case .dictionary: "dictionary"
        case .erased: "erased key"
        case .list: "list"
        case .set: "set"
        }
    }
}
