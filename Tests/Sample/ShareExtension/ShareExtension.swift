import Foundation
import SampleSupport
import TidegateClient

/// A share extension as a command line: it has a moment, and perhaps no network.
@main
enum ShareExtension {
    static func main() async { await SampleApp.main(run) }

    private static func run(_ sample: SampleApp) async throws {
        switch sample.arguments[0] {
        case "share": try await share(sample)
        case "record": try await record(sample)
        case "refresh": try await sample.refresh(sample.number(1))
        case "shown":
            let store = try LocalStore(container: sample.container)
            for item in try await store.documents("notes", as: Note.self) { SampleApp.say(item.text) }
        default: throw TidegateError(.invalidArgument, "no such command: \(sample.arguments[0])")
        }
    }

    /// `share TEXT`: online when that works within three seconds, on disk otherwise.
    private static func share(_ sample: SampleApp) async throws {
        let note = Note(_id: ObjectId(), text: try sample.argument(1))
        let queue = try DiskQueue(container: sample.container)
        let online = OnlineFirst(queue: queue, sender: .user(try sample.user()))
        switch try await online.perform(.insertOne(note, into: sample.target)) {
        case .done: SampleApp.say("done \(note._id)")
        case .recorded: SampleApp.say("recorded \(note._id)")
        }
        SampleApp.say("peak \(PeakMemory.kilobytes)")
    }

    /// `record DOCUMENT COUNT PAUSE`: appends numbers to a document, one operation each, with milliseconds between, and
    /// says each when it is safe, with the microseconds that took; every fifth is one that the rules refuse when
    /// DOCUMENT ends in `refused`.
    private static func record(_ sample: SampleApp) async throws {
        let document = try sample.argument(1)
        let pause = try sample.number(3)
        let queue = try DiskQueue(container: sample.container)
        let sender = DiskQueue.Sender.user(try sample.user())
        for number in 0..<(try sample.number(2)) {
            let isRefused = document.hasSuffix("refused") && number % 5 == 4
            let operation = RecordedOperation.updateOne(
                filter: ["_id": .string(document)],
                update: ["$push": ["numbers": .int32(Int32(number))]],
                upsert: true,
                in: isRefused ? RecordedOperation.Target("todo", "NoSuchRules") : sample.target
            )
            let start = ContinuousClock.now
            try await queue.record(operation, for: sender)
            let took = start.duration(to: .now) / .microseconds(1)
            SampleApp.say("\(number) \(Int(took))")
            if pause > 0 { try await Task.sleep(for: .milliseconds(pause)) }
        }
    }
}

struct Note: Codable, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    let _id: ObjectId
    let text: String
}
