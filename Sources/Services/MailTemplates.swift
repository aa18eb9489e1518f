import AppDefinition
import BSON
import SQL

/// What an app's mails say, by purpose: rows of `tidegate.mail_templates` and `auth/mail_templates.json`.
struct MailTemplates {
    struct Text: Hashable {
        /// nil is the provider's.
        let subject: String?
        let body: String
    }

    private(set) var texts: [String: Text] = [:]

    /// From rows of purpose, subject, body.
    init(rows: ResultSet) {
        for row in 0..<rows.rowCount {
            guard let purpose = rows.text(row, 0), let body = rows.text(row, 2) else { continue }
            texts[purpose] = Text(subject: rows.text(row, 1), body: body)
        }
    }

    /// From the file, which was checked when it was read.
    init(_ document: BSONDocument) {
        for field in document {
            guard let template = field.value.document, let body = template["body"]?.string else { continue }
            texts[field.key] = Text(subject: template["subject"]?.string, body: body)
        }
    }

    /// nil where all of them are the standard texts.
    var node: ConfigurationTree.Node? {
        if texts.isEmpty { return nil }
        var document = BSONDocument()
        for (purpose, text) in texts.sorted(by: { $0.key < $1.key }) {
            var template = BSONDocument()
            if let subject = text.subject { template.append("subject", .string(subject)) }
            template.append("body", .string(text.body))
            document.append(purpose, .document(template))
        }
        return ConfigurationTree.Node(document, at: Place(file: "auth/mail_templates.json"))
    }
}
