import Testing

@testable import Mail

@Suite("A mail as text")
struct MailMessageTests {
    private func text(subject: String = "Hello", body: String = "Hi") throws -> String {
        let sender = try #require(MailSender("Example <noreply@example.com>"))
        let mail = MailMessage(
            sender: sender,
            recipient: "ann@example.com",
            subject: subject,
            body: body,
            id: "65f0c0ffee00000000000001",
            date: 1_709_164_800
        )
        return String(decoding: mail.bytes, as: UTF8.self)
    }

    @Test("has fields, an empty line and a body, with CR LF everywhere")
    func form() throws {
        let text = try text(body: "one\ntwo\r\nthree")
        let expected = [
            #"From: "Example" <noreply@example.com>"#, "To: <ann@example.com>", "Subject: Hello",
            "Date: Thu, 29 Feb 2024 00:00:00 +0000",
            "Message-ID: <65f0c0ffee00000000000001@example.com>", "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 7bit",
            "Auto-Submitted: auto-generated", "", "one", "two", "three", "",
        ]
        #expect(text == expected.joined(separator: "\r\n"))
    }

    @Test("carries other characters as base64, in words and lines that stay short")
    func encoded() throws {
        let text = try text(
            subject: String(repeating: "Grüße ", count: 20),
            body: String(repeating: "é", count: 100)
        )
        #expect(text.utf8.allSatisfy { $0 < 0x80 })
        #expect(text.contains("Content-Transfer-Encoding: base64"))
        #expect(text.contains("=?utf-8?B?R3LDvMOfZSB"))
        for line in text.split(separator: "\r\n") { #expect(line.utf8.count <= 78, "\(line)") }
    }

    @Test(
        "a date is told as mails tell it",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 +0000"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 +0000"),
            (951_827_696, "Tue, 29 Feb 2000 12:34:56 +0000"),
            (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 +0000"),
        ]
    )
    func dates(seconds: Int64, text: String) {
        #expect(MailDate.text(seconds) == text)
    }

    @Test(
        "base64 is padded",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func base64(text: String, code: String) {
        #expect(Base64Text.encode(Array(text.utf8)) == code)
    }

    @Test(
        "an address that would end a header or a command is none",
        arguments: [
            "a@b", "ann@example.com", "ann+tag@example.com", "jörg@example.com", "o'neil@example.com",
        ]
    )
    func goodAddresses(address: String) {
        #expect(MailAddress.isPlain(address))
    }

    @Test(
        "an address that would end a header or a command is refused",
        arguments: [
            "", "ann", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\r\nBcc: x@y", "a@b>", "<a@b", "a@b,c@d",
            "\"a\"@b",
            "a@b\u{0}", "a\u{85}@b", "a@b;", "a@b:25", #"a\@b"#, "(x)a@b",
        ]
    )
    func badAddresses(address: String) {
        #expect(!MailAddress.isPlain(address))
    }

    @Test("a sender is an address, or a name and an address")
    func senders() {
        #expect(MailSender("a@b.c")?.field == "<a@b.c>")
        #expect(MailSender("Ann <a@b.c>")?.field == #""Ann" <a@b.c>"#)
        #expect(MailSender("Jörg <a@b.c>")?.field == "=?utf-8?B?SsO2cmc=?= <a@b.c>")
        for text in ["", "Ann", "Ann <a>", "Ann\n <a@b.c>", "\"Ann\" <a@b.c>", "a@b.c>"] {
            #expect(MailSender(text) == nil, "\(text)")
        }
    }
}
