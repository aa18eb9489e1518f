import Foundation

/// A headless Chromium that visits one page of a server and goes away.
///
/// It can reach nothing but 127.0.0.1; what it said on its console and which addresses it asked for come
/// back with the page.
public enum Browser {
    /// A page after its scripts have run.
    public struct Visit: Sendable {
        /// The document as it stands, as HTML, without the text of its styles and scripts.
        public let dom: String
        /// What scripts, the policy and failed loads left on the console.
        public let console: [String]
        /// Every address that the page asked for, itself included.
        public let requested: Set<String>
    }

    /// Why a page was not to be had.
    public struct Failure: Error {
        /// What the browser printed.
        public let message: String
    }

    /// Loads a page, lets its scripts and requests come to rest, and reads it.
    ///
    /// - Parameters:
    ///   - address: Of a server on 127.0.0.1.
    ///   - width: Of the window, in pixels.
    /// - Returns: The page.
    /// - Throws: ``Failure`` when the browser cannot be started or shows nothing.
    public static func visit(_ address: String, width: Int = 1200) throws -> Visit {
        let profile = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidegate-browser-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: profile) }
        try FileManager.default.createDirectory(at: profile, withIntermediateDirectories: true)
        let log = profile.appendingPathComponent("net.json")
        let result = try Shell.run(
            URL(fileURLWithPath: "/usr/bin/chromium"),
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                "--user-data-dir=\(profile.appendingPathComponent("profile").path)",
                "--enable-logging=stderr", "--log-net-log=\(log.path)", "--window-size=\(width),1000",
                // Of the page's own clock, which stands still while a request is under way.
                "--virtual-time-budget=3000", "--dump-dom", address,
            ]
        )
        guard result.status == 0, result.output.contains("<body") else {
            throw Failure(message: result.errors)
        }
        let console = result.errors.split(separator: "\n").filter { $0.contains(":CONSOLE") }
        return Visit(
            dom: withoutSources(result.output),
            console: console.map(String.init),
            requested: try addresses(in: Data(contentsOf: log), of: address)
        )
    }

    private static func withoutSources(_ dom: String) -> String {
        var result = dom
        for tag in ["script", "style"] {
            while let begin = result.range(of: "<\(tag)>"),
                let end = result.range(of: "</\(tag)>", range: begin.upperBound..<result.endIndex)
            {
                result.removeSubrange(begin.lowerBound..<end.upperBound)
            }
        }
        return result
    }

    /// The addresses that a page asked for, by a log of Chromium's network stack.
    ///
    /// The browser has errands of its own (its version, the time), whose requests come from no page; they
    /// find no host.
    private static func addresses(in log: Data, of page: String) throws -> Set<String> {
        let root = try JSONSerialization.jsonObject(with: log) as? [String: Any]
        let events = root?["events"] as? [[String: Any]] ?? []
        let requests = events.compactMap { event -> (url: String, initiator: String)? in
            guard let parameters = event["params"] as? [String: Any], let url = parameters["url"] as? String
            else { return nil }
            return (url, parameters["initiator"] as? String ?? "")
        }
        return Set(requests.filter { $0.url == page || $0.initiator.hasPrefix("http") }.map(\.url))
    }
}
