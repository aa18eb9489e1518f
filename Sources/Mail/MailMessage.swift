/// One message of plain text, as it goes over the wire.
///
/// Shape: header fields and body with CR LF; a body that is not ASCII, or has very long lines, as base64.
/// Source: RFC 5322; RFC 2045; RFC 2047.
public struct MailMessage: Sendable {
    /// The sender's address, possibly as `Name <address>`.
    public let sender: MailSender
    /// The recipient's address.
    public let recipient: String
    /// One line.
    public let subject: String
    /// Plain text.
    public let body: String
    /// What is unique about it, for `Message-ID`; letters and digits.
    public let id: String
    /// Seconds since 1970.
    public let date: Int64

    /// Made of its parts.
    public init(
        sender: MailSender,
        recipient: String,
        subject: String,
        body: String,
        id: String,
        date: Int64
    ) {
        self.sender = sender
        self.recipient = recipient
        self.subject = subject
        self.body = body
        self.id = id
        self.date = date
    }

    /// The whole text.
    public var bytes: [UInt8] {
        let lines = body.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
        let isPlain =
            body.utf8.allSatisfy { $0 < 0x80 } && lines.allSatisfy { $0.utf8.count <= 900 }
            && !body.utf8.contains(0)
        let content =
            isPlain ? lines.joined(separator: "\r\n") : Self.wrapped(Base64Text.encode(Array(body.utf8)))
        let fields = [
            "From: \(sender.field)", "To: <\(recipient)>", "Subject: \(Self.word(subject))",
            "Date: \(MailDate.text(date))", "Message-ID: <\(id)@\(sender.domain)>", "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: \(isPlain ? "7bit" : "base64")", "Auto-Submitted: auto-generated",
        ]
        return Array((fields.joined(separator: "\r\n") + "\r\n\r\n" + content + "\r\n").utf8)
    }

    /// Text as a header field may hold it; in pieces that stay within a line and within a character.
    static func word(_ text: String) -> String {
        if text.utf8.count <= 900, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var words: [String] = []
        var piece: [UInt8] = []
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if piece.count + bytes.count > 42 {
                words.append("=?utf-8?B?\(Base64Text.encode(piece))?=")
                piece = []
            }
            piece += bytes
        }
        if !piece.isEmpty { words.append("=?utf-8?B?\(Base64Text.encode(piece))?=") }
        return words.joined(separator: "\r\n ")
    }

    private static func wrapped(_ text: String) -> String {
        var lines: [Substring] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            lines.append(rest.prefix(76))
            rest = rest.dropFirst(76)
        }
        return lines.joined(separator: "\r\n")
    }
}

/// Who mails come from: an address, with a name or without.
public struct MailSender: Sendable, Hashable {
    /// Such as `noreply@example.com`.
    public let address: String
    /// Empty for none.
    public let name: String

    /// Reads `noreply@example.com` or `Example <noreply@example.com>`; nil for anything else.
    public init?(_ text: String) {
        var address = Substring(text)
        var name = Substring("")
        if text.hasSuffix(">"), let open = text.firstIndex(of: "<") {
            name = text[..<open]
            address = text[text.index(after: open)...].dropLast()
        }
        guard MailAddress.isPlain(String(address)),
            name.unicodeScalars.allSatisfy({
                $0.value >= 0x20 && $0.value != 0x7F && !"\"<>\\".contains(Character($0))
            })
        else { return nil }
        self.address = String(address)
        while name.last == " " { name = name.dropLast() }
        while name.first == " " { name = name.dropFirst() }
        self.name = String(name)
    }

    /// Behind the `@`.
    var domain: String { String(address.drop { $0 != "@" }.dropFirst()) }

    var field: String {
        guard !name.isEmpty else { return "<\(address)>" }
        let isPlain = name.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        return (isPlain ? "\"\(name)\"" : MailMessage.word(name)) + " <\(address)>"
    }
}

/// Which addresses mail is sent to.
public enum MailAddress {
    /// Whether an address is one word with one `@`, without the characters that would end it in a header or command.
    public static func isPlain(_ address: String) -> Bool {
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && address.utf8.count <= 320
            && address.unicodeScalars.allSatisfy {
                $0.value > 0x20 && !(0x7F...0xA0).contains($0.value)
                    && !"\"<>()[],;:\\".contains(Character($0))
            }
    }
}
