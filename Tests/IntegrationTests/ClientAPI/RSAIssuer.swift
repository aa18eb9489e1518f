import Foundation
import TestSupport

/// Somebody who signs with an RSA key, made by openssl, and serves it as a JWK set on this machine.
final class RSAIssuer {
    let publicKey: String
    var port: UInt16 { server.port }
    private let folder: URL
    private let server: LineServer

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rsa-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let key = folder.appendingPathComponent("key.pem").path
        _ = try Self.openssl("genrsa", "-out", key, "2048")
        publicKey = try Self.openssl("rsa", "-in", key, "-pubout")
        let modulus = try Self.openssl("rsa", "-in", key, "-noout", "-modulus")
            .trimmingCharacters(in: .whitespacesAndNewlines).dropFirst("Modulus=".count)
        var bytes = Data()
        var rest = modulus
        while rest.count >= 2 {
            bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        let set =
            #"{"keys":[{"kty":"RSA","kid":"r1","use":"sig","alg":"RS256","e":"AQAB","n":"\#(ForgedToken.encode(bytes))"}]}"#
        server = try LineServer.json { set }
    }

    func stop() {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// A token with this header and payload.
    func token(_ header: String, _ payload: String) throws -> String {
        let text =
            ForgedToken.encode(Data(header.utf8)) + "." + ForgedToken.encode(Data(payload.utf8))
        let input = folder.appendingPathComponent("text")
        let output = folder.appendingPathComponent("signature")
        try Data(text.utf8).write(to: input)
        _ = try Self.openssl(
            "dgst",
            "-sha256",
            "-sign",
            folder.appendingPathComponent("key.pem").path,
            "-out",
            output.path,
            input.path
        )
        return text + "." + ForgedToken.encode(try Data(contentsOf: output))
    }

    private struct NoKey: Error {
        let reason: String
    }

    private static func openssl(_ arguments: String...) throws -> String {
        let result = try Shell.run(URL(fileURLWithPath: "/usr/bin/openssl"), arguments)
        guard result.status == 0 else { throw NoKey(reason: result.errors) }
        return result.output
    }
}
