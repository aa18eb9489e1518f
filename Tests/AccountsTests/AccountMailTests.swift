import Testing

@testable import Accounts

@Suite("Mails to users")
struct AccountMailTests {
    @Test("fill their placeholders in once, and leave other percent signs alone")
    func placeholders() {
        let mail = AccountMail(
            subject: "Hi %email%\r\nBcc: x",
            body: "100 % of %app% for %email%: %link% %token% %tokenId% %unknown% %",
            recipient: "%link%@example.com",
            app: "shop",
            address: "https://app.example/confirm",
            token: "t",
            tokenID: "i"
        )
        #expect(mail.subject == "Hi %link%@example.comBcc: x")
        #expect(
            mail.body
                == "100 % of shop for %link%@example.com: https://app.example/confirm?token=t&tokenId=i t i %unknown% %"
        )
    }

    @Test(
        "lead to the app's address with token and id",
        arguments: [
            ("https://a/b", "https://a/b?token=t&tokenId=i"),
            ("https://a/b?c=d", "https://a/b?c=d&token=t&tokenId=i"),
            ("https://a/b?", "https://a/b?token=t&tokenId=i"),
            ("https://a/#/b", "https://a/?token=t&tokenId=i#/b"),
            ("myapp://confirm", "myapp://confirm?token=t&tokenId=i"),
        ]
    )
    func links(address: String, link: String) {
        #expect(AccountMail.link(address, token: "t", tokenID: "i") == link)
    }

    @Test("carry tokens of 256 random bits, which are found by their digest alone")
    func tokens() {
        var random = SystemRandomNumberGenerator()
        let token = UserToken.make(random: &random)
        #expect(token.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        #expect(token != UserToken.make(random: &random))
        #expect(UserToken.digest(token)?.count == 32)
        for text in ["", "x", token.uppercased() + "g", token + "0", String(token.dropLast()) + "é"] {
            #expect(UserToken.digest(text) == nil)
        }
    }

    @Test(
        "go to addresses without characters that would end a header",
        arguments: [
            ("ann@example.com", true), ("jörg@example.com", true), ("a@b", true), ("a\r\n@b", false),
            ("a@b>", false),
            ("a,b@c", false), ("a\u{202E}@b", false), ("a\u{85}@b", false), ("\"a\"@b", false),
            ("a@b@c", false),
        ]
    )
    func addresses(email: String, isGood: Bool) {
        #expect(EmailPasswordProvider.isEmail(email) == isGood)
    }
}
