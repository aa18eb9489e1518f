import Observability

/// The `Server-Timing` header: where a request's time went, for a browser's developer tools.
///
/// Shape: `authenticate;dur=0.12, database;dur=1.2, total;dur=1.6`, in milliseconds; stages that took no time
/// are left out.
///
/// Source: W3C, “Server Timing”.
enum ServerTiming {
    static func text(_ record: RequestRecord) -> String {
        var parts: [String] = []
        for stage in RequestStage.allCases {
            let time = record.stages[stage]
            if time > .zero { parts.append("\(stage.rawValue);dur=\(milliseconds(time))") }
        }
        parts.append("total;dur=\(milliseconds(record.duration))")
        return parts.joined(separator: ", ")
    }

    /// With three decimals, without an exponent.
    private static func milliseconds(_ duration: Duration) -> String {
        let microseconds = Int((duration / .microseconds(1)).rounded())
        return "\(microseconds / 1000).\("\(1000 + microseconds % 1000)".dropFirst())"
    }
}
