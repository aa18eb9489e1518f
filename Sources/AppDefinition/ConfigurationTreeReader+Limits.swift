import BSON

/// What names and texts of files may be, as the functions of the schema `tidegate` have it.
///
/// Rows of the database are not asked again: what is stored is served.
extension ConfigurationTreeReader {
    /// The hosted service took 500 characters; keys of RSA are longer.
    static let longestSecret = 16_384

    /// Values and secrets: `reference/functions.md` §8.
    mutating func checkNames() {
        for (name, node) in tree.values.sorted(by: { $0.key < $1.key })
        where name.utf8.count > 64 || !AppConfigurationParser.isPlain(name) {
            findings.add(.error, node.place.key("name"), "must be 1 to 64 letters, digits, - and _")
        }
        let file = Place(file: "secrets.json")
        for (name, text) in tree.secrets.sorted(by: { $0.key < $1.key }) {
            if name.isEmpty || name.unicodeScalars.count > 64 {
                findings.add(.error, file.key(name), "the name of a secret must have 1 to 64 characters")
            }
            if text.isEmpty || text.unicodeScalars.count > Self.longestSecret {
                findings.add(.error, file.key(name), "must have 1 to \(Self.longestSecret) characters")
            }
        }
    }

    /// Reads `auth/mail_templates.json`, a file of our own: what an app's mails say.
    mutating func readMailTemplates() {
        guard let file = object("auth/mail_templates.json") else { return }
        tree.mailTemplates = file
        for field in file.document {
            let place = file.place.key(field.key)
            guard ["confirm", "reset"].contains(field.key) else {
                findings.add(.error, place, "there are the mails confirm and reset")
                continue
            }
            guard let template = field.value.document else {
                findings.add(.error, place, "must be an object")
                continue
            }
            var reader = ObjectReader(template, at: place)
            if let body = reader.requiredText("body"), let fault = Self.fault(ofBody: body) {
                reader.error("body", fault)
            }
            if let subject = reader.value("subject"), !Self.isSubject(subject) {
                reader.error("subject", "must be one line of 1 to 256 characters")
            }
            reader.reportUnknown()
            findings.append(contentsOf: reader.findings)
        }
    }

    private static func fault(ofBody text: String) -> String? {
        if text.utf8.contains(0) { return "must not contain U+0000" }
        if text.unicodeScalars.count > 100_000 { return "must not be longer than 100000 characters" }
        let isUsable = text.contains("%link%") || text.contains("%token%") && text.contains("%tokenId%")
        return isUsable ? nil : "must contain %link%, or %token% and %tokenId%"
    }

    private static func isSubject(_ value: BSONValue) -> Bool {
        guard let text = value.string else { return false }
        return (1...256).contains(text.unicodeScalars.count)
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
