import Foundation
import Synchronization

/// A door before a gateway that does what is asked and then, every few writes, closes without a word.
///
/// A write is a request with an `Idempotency-Key`: what it did is done, and nobody hears of it.
public final class ForgetfulProxy: Sendable {
    private let server: LineServer
    private let counts: Counts

    private final class Counts: Sendable {
        let writes = Mutex(0)
        let forgotten = Mutex(0)
    }

    /// Stands before `http://127.0.0.1:port` and forgets the answer of every `nth` write.
    public init(before upstream: String, forgetting nth: Int) throws {
        let counts = Counts()
        self.counts = counts
        server = try LineServer { connection in
            var head: [String] = []
            while let line = connection.line(), !line.isEmpty { head.append(line) }
            func value(_ name: String) -> String? {
                head.first { $0.lowercased().hasPrefix(name + ":") }
                    .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
            }
            guard !head.isEmpty, let gateway = try? RawConnection(upstream) else { return }
            let body = connection.bytes(value("content-length").flatMap { Int($0) } ?? 0)
            head.removeAll { $0.lowercased().hasPrefix("connection:") }
            gateway.send(head.joined(separator: "\r\n") + "\r\nConnection: close\r\n\r\n")
            gateway.send(body)
            var answer: [UInt8] = []
            while let more = gateway.receive() { answer += more }
            let isForgotten =
                value("idempotency-key") != nil
                && counts.writes.withLock { writes in
                    writes += 1
                    return writes.isMultiple(of: nth)
                }
            if isForgotten {
                counts.forgotten.withLock { $0 += 1 }
            } else {
                connection.send(answer)
            }
        }
    }

    /// Where it listens.
    public var url: String { "http://127.0.0.1:\(server.port)" }

    /// How many answers were kept back.
    public var forgotten: Int { counts.forgotten.withLock { $0 } }
}
