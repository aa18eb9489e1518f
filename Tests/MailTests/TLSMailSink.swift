import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

/// A mail server that speaks TLS, from the first byte or after STARTTLS, with a certificate of its own authority.
final class TLSMailSink: Sendable {
    /// What came over one connection.
    final class Talk: Sendable {
        let lines = Mutex<[String]>([])
        /// Lines that came before TLS began.
        let inTheClear = Mutex<[String]>([])
    }

    let port: Int
    let talk = Talk()
    /// The PEM file of who vouches for the certificate.
    let authorities: String
    private let channel: any Channel
    private let folder: URL

    init(startsWithTLS: Bool) async throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("smtp-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (key, certificate) = (
            folder.appendingPathComponent("key.pem").path, folder.appendingPathComponent("cert.pem").path
        )
        let made = try Shell.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days",
                "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
            ]
        )
        guard made.status == 0 else { throw NoCertificate(reason: made.errors) }
        authorities = certificate
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            )
        )
        let talk = talk
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let operations = channel.pipeline.syncOperations
                    if startsWithTLS { try operations.addHandler(NIOSSLServerHandler(context: context)) }
                    try operations.addHandler(Speaker(talk, context, isSecure: startsWithTLS))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    func stop() async throws {
        try await channel.close()
        try FileManager.default.removeItem(at: folder)
    }

    struct NoCertificate: Error {
        let reason: String
    }

    /// Speaks SMTP, so far as a client asks for it.
    private final class Speaker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let talk: Talk
        private let context: NIOSSLContext
        private var isSecure: Bool
        private var text = ""
        private var isInMail = false

        init(_ talk: Talk, _ context: NIOSSLContext, isSecure: Bool) {
            self.talk = talk
            self.context = context
            self.isSecure = isSecure
        }

        func channelActive(context: ChannelHandlerContext) {
            say("220 sink", context)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var buffer = unwrapInboundIn(data)
            text += buffer.readString(length: buffer.readableBytes) ?? ""
            while let end = text.firstRange(of: "\r\n") {
                let line = String(text[..<end.lowerBound])
                text.removeSubrange(..<end.upperBound)
                heard(line, context)
            }
        }

        private func heard(_ line: String, _ context: ChannelHandlerContext) {
            if isSecure {
                talk.lines.withLock { $0.append(line) }
            } else {
                talk.inTheClear.withLock { $0.append(line) }
            }
            if isInMail {
                guard line == "." else { return }
                isInMail = false
                return say("250 taken", context)
            }
            switch line.prefix(4).uppercased() {
            case "EHLO":
                say("250-sink", context)
                say(isSecure ? "250 AUTH PLAIN" : "250 STARTTLS", context)
            case "STAR":
                say("220 go on", context)
                isSecure = true
                try? context.pipeline.syncOperations.addHandler(
                    NIOSSLServerHandler(context: self.context),
                    position: .first
                )
            case "AUTH": say(line.split(separator: " ").count > 2 ? "235 welcome" : "334 ", context)
            case "DATA":
                isInMail = true
                say("354 go on", context)
            case "QUIT": say("221 bye", context)
            default: say(line.contains(" ") || line == "RSET" ? "250 ok" : "235 welcome", context)
            }
        }

        private func say(_ line: String, _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: line + "\r\n")), promise: nil)
        }
    }
}
