import Foundation
import TestSupport
import Testing

/// Requests of the Data API are taken out of a connection before the framework, all others are not: whoever
/// answers, a client sees one connection.
@Suite("A connection with requests of both kinds")
struct DirectConnectionTests {
    private let tag = UUID().uuidString

    private func insert(_ api: APICaller, _ user: APICaller.User, _ name: String, _ more: String = "")
        -> String
    {
        let body =
            #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Open","document":{"_id":"\#(name)-\#(tag)"}}"#
        return """
            POST /app/\(api.app)/endpoint/data/v1/action/insertOne HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(user.accessToken)\r
            Content-Length: \(body.utf8.count)\r
            \(more)\r
            \(body)
            """
    }

    private let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// What the answers tell, in their order: names of inserted documents, `ok` for health.
    private func names(_ text: String) -> [String] {
        text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { answer in
            if answer.contains(#"{"status":"ok"}"#) { return "ok" }
            guard let start = answer.range(of: #"{"insertedId":""#), answer.contains(tag) else {
                return answer
            }
            return String(answer[start.upperBound...].prefix { $0 != "-" })
        }
    }

    @Test("answers in the order of the requests, however many come at once")
    func order() async throws {
        let (api, user) = try await SharedServer.user()
        let connection = try RawConnection(api.server.http)
        let requests = [
            insert(api, user, "a"), health, insert(api, user, "b"), insert(api, user, "c"), health, health,
            insert(api, user, "d"), insert(api, user, "e", "Connection: close\r\n"),
        ]
        connection.send(requests.joined())
        let text = try #require(connection.receiveAll())
        #expect(names(text) == ["a", "ok", "b", "c", "ok", "ok", "d", "e"], "\(text)")
    }

    @Test("answers what was sent before the client said that it is done")
    func halfClosed() async throws {
        let (api, user) = try await SharedServer.user()
        let connection = try RawConnection(api.server.http)
        connection.send(insert(api, user, "a") + insert(api, user, "b") + health + insert(api, user, "c"))
        connection.finishSending()
        let text = try #require(connection.receiveAll())
        #expect(names(text) == ["a", "b", "ok", "c"], "\(text)")
    }

    @Test("takes a request that comes in pieces, at every place where it can break")
    func pieces() async throws {
        let (api, user) = try await SharedServer.user()
        let connection = try RawConnection(api.server.http)
        var expected: [String] = []
        var text = ""
        let length = insert(api, user, "10").utf8.count
        for (number, place) in stride(from: 1, to: length, by: length / 12).enumerated() {
            let name = "\(10 + number)"
            let bytes = Array(insert(api, user, name).utf8)
            connection.send(Array(bytes[..<place]))
            // A moment for the server to read the first piece alone; the answer is the same when it does not.
            // The thread is not given away: on a busy machine it might come back after the body's time limit.
            usleep(20_000)
            connection.send(Array(bytes[place...]))
            expected.append(name)
            while names(text).last != name || !text.hasSuffix("}") {
                guard let more = connection.receive(), !more.isEmpty else { break }
                text += String(decoding: more, as: UTF8.self)
            }
        }
        #expect(names(text) == expected, "\(text)")
    }

    @Test("refuses what is no HTTP behind a good request, after that request's answer")
    func garbage() async throws {
        let (api, user) = try await SharedServer.user()
        let connection = try RawConnection(api.server.http)
        connection.send(insert(api, user, "a") + "no such thing\r\n\r\n")
        let text = try #require(connection.receiveAll())
        let answers = names(text)
        #expect(answers.first == "a", "\(text)")
        #expect(answers.count == 2 && answers[1].hasPrefix("400"), "\(text)")
    }

    @Test("carries the headers that every answer has")
    func headers() async throws {
        let (api, user) = try await SharedServer.user()
        let connection = try RawConnection(api.server.http)
        connection.send(insert(api, user, "a"))
        connection.finishSending()
        let text = try #require(connection.receiveAll()).lowercased()
        for name in ["date: ", "server: tidegate", "x-appservices-request-id: ", "content-length: "] {
            #expect(text.components(separatedBy: "\r\n\(name)").count == 2, "\(name) in \(text)")
        }
    }
}
