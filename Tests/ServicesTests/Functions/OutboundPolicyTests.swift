import Testing

@testable import Services

@Suite("Which hosts functions may call")
struct OutboundPolicyTests {
    @Test(
        "addresses of this machine, of somebody's own network, or of no host at all are not public",
        arguments: [
            "127.0.0.1", "127.8.9.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.169.254", "100.64.0.1", "100.127.255.254", "192.0.0.8", "198.18.0.1", "224.0.0.1",
            "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "fec0::1",
            "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1",
            "64:ff9b::169.254.169.254", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "2001:db8::1",
            "2001::1", "fd00:ec2::254",
        ]
    )
    func notPublic(text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(!address.isPublic)
    }

    @Test(
        "others are",
        arguments: [
            "1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1",
            "223.255.255.255",
            "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8",
        ]
    )
    func isPublic(text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic)
    }

    @Test("an operator's list decides before the address does, and a denial before a permission")
    func list() throws {
        func permits(_ list: [(Bool, String)], _ host: String, _ address: String) throws -> Bool {
            let entries = list.map {
                OutboundPolicy.Entry(isAllowed: $0.0, pattern: OutboundPolicy.Pattern($0.1))
            }
            return OutboundPolicy(entries: entries).permits(host, at: try #require(NetworkAddress(address)))
        }
        #expect(try permits([], "a.example", "8.8.8.8"))
        #expect(try !permits([], "a.example", "10.0.0.1"))
        #expect(try permits([(true, "a.example")], "a.example", "10.0.0.1"))
        #expect(try !permits([(true, "a.example")], "b.a.example", "10.0.0.1"))
        #expect(try permits([(true, "*.a.example")], "b.a.example", "10.0.0.1"))
        #expect(try !permits([(true, "*.a.example")], "ba.example", "10.0.0.1"))
        #expect(try permits([(true, "10.0.0.0/8")], "anything", "10.9.8.7"))
        #expect(try !permits([(false, "8.8.8.0/24")], "a.example", "8.8.8.8"))
        #expect(try !permits([(true, "a.example"), (false, "8.8.8.8")], "a.example", "8.8.8.8"))
        #expect(try !permits([(false, "*")], "a.example", "8.8.8.8"))
        #expect(try permits([(false, "*"), (true, "A.Example")], "a.example", "8.8.8.8"))
        #expect(try permits([(true, "*")], "a.example", "10.0.0.1") == false)
    }
}
