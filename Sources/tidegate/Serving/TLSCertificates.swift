import Errors
import NIOCore
import NIOSSL
import Synchronization

/// The server's certificate and key, read from PEM files and read again on SIGHUP.
///
/// A new pair that cannot be read leaves the old one in use; connections that are open keep theirs.
final class TLSCertificates: Sendable {
    private struct Pair: Sendable {
        var chain: [NIOSSLCertificateSource]
        var key: NIOSSLPrivateKeySource
    }

    private let certificateFile: String
    private let keyFile: String
    private let current: Mutex<Pair>

    /// - Throws: `InvalidSetting` that names the file.
    init(certificateFile: String, keyFile: String) throws(ServiceError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        current = Mutex(try Self.read(certificateFile, keyFile))
    }

    private static func read(_ certificateFile: String, _ keyFile: String) throws(ServiceError) -> Pair {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
            let key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
            return Pair(chain: chain.map { .certificate($0) }, key: .privateKey(key))
        } catch {
            throw ServiceError(
                .invalidSetting,
                "the certificate \(certificateFile) or its key \(keyFile) cannot be read: \(error)"
            )
        }
    }

    /// For the server: asks for the newest pair at each handshake.
    func configuration() -> TLSConfiguration {
        let pair = current.withLock { $0 }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: pair.chain,
            privateKey: pair.key
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.sslContextCallback = { [weak self] _, promise in
            var override = NIOSSLContextConfigurationOverride()
            if let newest = self?.current.withLock({ $0 }) {
                override.certificateChain = newest.chain
                override.privateKey = newest.key
            }
            promise.succeed(override)
        }
        return configuration
    }

    /// Reads the files again.
    func reload() throws(ServiceError) {
        let pair = try Self.read(certificateFile, keyFile)
        current.withLock { $0 = pair }
    }
}
