import BSON

/// A document from Extended JSON text; a test that writes it wrong stops.
func json(_ text: String) -> BSONDocument {
    do {
        return try ExtendedJSON.readDocument(Array(text.utf8))
    } catch {
        fatalError("\(error): \(text)")
    }
}
