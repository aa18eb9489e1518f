/// Metrics as the text that Prometheus reads.
///
/// Source: Prometheus, “Exposition formats”, text format 0.0.4.
public enum PrometheusText {
    /// The media type of the text.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Writes all series of all families.
    public static func render(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.series.isEmpty {
            if !family.help.isEmpty { text += "# HELP \(family.name) \(escapedHelp(family.help))\n" }
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for series in family.series { write(series, of: family.name, to: &text) }
        }
        return text
    }

    private static func write(_ series: MetricSeries, of name: String, to text: inout String) {
        switch series.value {
        case .number(let number):
            text += name + labels(series.labels) + " \(numberText(number))\n"
        case .histogram(let snapshot):
            for (end, count) in snapshot.cumulative {
                let le = MetricSeries.Label("le", numberText(end))
                text += "\(name)_bucket\(labels(series.labels + [le])) \(count)\n"
            }
            let infinity = MetricSeries.Label("le", "+Inf")
            text += "\(name)_bucket\(labels(series.labels + [infinity])) \(snapshot.count)\n"
            text += "\(name)_sum\(labels(series.labels)) \(numberText(snapshot.sum))\n"
            text += "\(name)_count\(labels(series.labels)) \(snapshot.count)\n"
        }
    }

    private static func labels(_ labels: [MetricSeries.Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escapedValue($0.value))\"" }.joined(separator: ",") + "}"
    }

    /// Go's spelling of a number, as the format asks.
    static func numberText(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: number), abs(number) < 9_007_199_254_740_992 { return "\(whole)" }
        return "\(number)"
    }

    private static func escapedHelp(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    private static func escapedValue(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
        return text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    /// A name of letters, digits, underscores and colons that does not begin with a digit.
    static func metricName(_ text: String) -> String { name(text, allowsColon: true) }

    /// As ``metricName(_:)``, without colons.
    static func labelName(_ text: String) -> String { name(text, allowsColon: false) }

    private static func name(_ text: String, allowsColon: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isDigit = ("0"..."9").contains(scalar)
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
            if isDigit, result.isEmpty { result += "_" }
            result.unicodeScalars.append(
                isDigit || isLetter || (allowsColon && scalar == ":") ? scalar : "_"
            )
        }
        return result.isEmpty ? "_" : result
    }
}
