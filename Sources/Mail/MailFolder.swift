public import Errors
import Glibc

/// A directory that mails are laid into, a file each: what a developer reads instead of a mailbox.
public struct MailFolder: MailCarrier {
    private let path: String

    /// The directory is made when the first mail comes.
    public init(path: String) {
        self.path = path
    }

    /// Writes `<seconds>-<id>.eml`, readable by the owner alone, since it holds a token.
    public func carry(_ mail: MailMessage) async throws(ServiceError) {
        _ = mkdir(path, 0o700)
        let file = "\(path)/\(mail.date)-\(mail.id).eml"
        // Whoever waits for the file finds it whole.
        let draft = file + ".part"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure }
        let bytes = mail.bytes
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        guard written == bytes.count, rename(draft, file) == 0 else { throw failure }
    }

    private var failure: ServiceError {
        ServiceError(.internalServerError, "the mail cannot be written into \(path): errno \(errno)")
    }
}
