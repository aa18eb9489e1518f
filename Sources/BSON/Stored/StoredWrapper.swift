/// Which objects of a stored document stand for one value.
///
/// An object with a single key of the list, or `$code` with `$scope`, is a wrapper if its content fits;
/// if it does not fit it is data, since a row that an administrator wrote must remain readable. What tidegate
/// itself stores as data is never ambiguous: a document with such keys, or with a key `$document`, is put
/// into `{"$document": …}`, whose content is data whatever it looks like.
enum StoredWrapper {
    /// Puts a document that looks like a wrapper out of question.
    static let escapeKey = "$document"

    /// Whether a document with these fields would be taken for a wrapper.
    static func isAmbiguous(_ document: BSONDocument) -> Bool {
        var dollars = 0
        for field in document.fields where field.key.utf8.first == UInt8(ascii: "$") {
            if TextOrder.equal(field.key, escapeKey) { return true }
            dollars += 1
        }
        guard dollars == document.count else { return false }
        switch dollars {
        case 1: return ExtendedJSONWrapper(key: document.fields[0].key) != nil
        case 2: return document.has("$code") && document.has("$scope")
        default: return false
        }
    }

    /// The value that the fields of an object stand for, or nil for data.
    static func value(of fields: [BSONDocument.Field]) -> BSONValue? {
        guard isAmbiguous(BSONDocument(fields)) else { return nil }
        if TextOrder.equal(fields[0].key, escapeKey) {
            guard fields.count == 1, case .document = fields[0].value else { return nil }
            return fields[0].value
        }
        return ExtendedJSONWrapper(of: fields)?.value(of: fields)
    }
}
