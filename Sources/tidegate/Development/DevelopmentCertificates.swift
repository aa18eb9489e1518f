import Crypto
import Foundation
import SwiftASN1
import X509

/// A local certificate authority and a certificate for `localhost`, made once and kept as PEM files.
///
/// The authority's key is thrown away after it has signed: it cannot vouch for anything else.
struct DevelopmentCertificates {
    let directory: URL

    var authorityFile: URL { directory.appendingPathComponent("ca.pem") }
    var certificateFile: URL { directory.appendingPathComponent("localhost.pem") }
    var keyFile: URL { directory.appendingPathComponent("localhost-key.pem") }

    /// Makes the files unless they are there and still good for a week.
    func prepare(now: Date) throws {
        if let text = try? String(contentsOf: certificateFile, encoding: .utf8),
            let certificate = try? Certificate(pemEncoded: text),
            certificate.notValidAfter > now.addingTimeInterval(7 * 86_400),
            FileManager.default.fileExists(atPath: keyFile.path),
            FileManager.default.fileExists(atPath: authorityFile.path)
        {
            return
        }
        try FileManager.default.createDirectory(
            at: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let authorityKey = P256.Signing.PrivateKey()
        let serverKey = P256.Signing.PrivateKey()
        let authority = try makeAuthority(key: authorityKey, now: now)
        let server = try makeServer(key: serverKey, issuer: authority, issuerKey: authorityKey, now: now)
        try write(authority.serializeAsPEM().pemString, to: authorityFile, mode: 0o644)
        try write(serverKey.pemRepresentation, to: keyFile, mode: 0o600)
        try write(server.serializeAsPEM().pemString, to: certificateFile, mode: 0o644)
    }

    private func makeAuthority(key: P256.Signing.PrivateKey, now: Date) throws -> Certificate {
        let name = try DistinguishedName { CommonName("tidegate development CA") }
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(key.publicKey),
            notValidBefore: now.addingTimeInterval(-3600),
            notValidAfter: now.addingTimeInterval(825 * 86_400),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: .init(key)
        )
    }

    private func makeServer(
        key: P256.Signing.PrivateKey,
        issuer: Certificate,
        issuerKey: P256.Signing.PrivateKey,
        now: Date
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(key.publicKey),
            notValidBefore: now.addingTimeInterval(-3600),
            notValidAfter: now.addingTimeInterval(397 * 86_400),
            issuer: issuer.subject,
            subject: try DistinguishedName { CommonName("localhost") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([
                    .dnsName("localhost"),
                    .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    .ipAddress(
                        ASN1OctetString(contentBytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
                    ),
                ])
                AuthorityKeyIdentifier(
                    keyIdentifier: try issuer.extensions.subjectKeyIdentifier?.keyIdentifier
                )
            },
            issuerPrivateKey: .init(issuerKey)
        )
    }

    private func write(_ text: String, to file: URL, mode: Int) throws {
        try Data(text.utf8).write(to: file, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }
}
