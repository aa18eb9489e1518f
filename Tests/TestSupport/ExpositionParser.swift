/// Reads the text format of Prometheus as strictly as its description allows.
///
/// Source: Prometheus, “Exposition formats”, “Text format details”, version 0.0.4.
public struct ExpositionParser {
    /// One number.
    public struct Sample: Sendable, Equatable {
        /// With the suffix of a histogram's part.
        public var name: String
        /// Values by name, unescaped.
        public var labels: [String: String]
        /// The number.
        public var value: Double
    }

    /// The samples of one metric.
    public struct Family: Sendable {
        /// `counter`, `gauge` or `histogram`.
        public var kind: String
        /// Unescaped; nil without such a line.
        public var help: String?
        /// In the order of the text.
        public var samples: [Sample] = []
    }

    /// Why the text does not follow the format.
    public struct Fault: Error, CustomStringConvertible {
        let line: String
        let reason: String
        /// The reason and the line.
        public var description: String { "\(reason): \(line)" }
    }

    /// What was read, by name.
    public private(set) var families: [String: Family] = [:]
    private var known: Set<[String]> = []
    private var helps: [String: String] = [:]
    private var current = ""

    /// Reads a whole text.
    ///
    /// - Throws: ``Fault`` for the first line that does not follow the format.
    public init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Fault(line: "", reason: "the last line must end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            try read(String(line))
        }
        for (name, family) in families { try check(name, family) }
    }

    private mutating func read(_ line: String) throws {
        if line.isEmpty { throw Fault(line: line, reason: "an empty line is not written") }
        if line.hasPrefix("# HELP ") {
            let (name, help) = Self.cut(line.dropFirst("# HELP ".count))
            guard helps[name] == nil, families[name] == nil else {
                throw Fault(line: line, reason: "HELP comes once, before TYPE")
            }
            helps[name] = try Self.unescape(help, quotes: false)
        } else if line.hasPrefix("# TYPE ") {
            let (name, kind) = Self.cut(line.dropFirst("# TYPE ".count))
            guard families[name] == nil else { throw Fault(line: line, reason: "TYPE comes once") }
            guard ["counter", "gauge", "histogram", "summary", "untyped"].contains(kind) else {
                throw Fault(line: line, reason: "unknown type")
            }
            families[name] = Family(kind: kind, help: helps[name])
            current = name
        } else {
            let sample = try Self.sample(line)
            guard let kind = families[current]?.kind else { throw Fault(line: line, reason: "no TYPE") }
            let suffixes = kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
            guard suffixes.contains(where: { current + $0 == sample.name }) else {
                throw Fault(line: line, reason: "a sample of \(current) in its group was due")
            }
            if kind == "counter", !(sample.value >= 0) { throw Fault(line: line, reason: "negative counter") }
            let key = [sample.name] + sample.labels.map { "\($0.key)=\($0.value)" }.sorted()
            if !known.insert(key).inserted { throw Fault(line: line, reason: "the series comes twice") }
            families[current]?.samples.append(sample)
        }
    }

    /// Buckets must grow, end with `+Inf`, and agree with the count.
    private func check(_ name: String, _ family: Family) throws {
        if family.kind == "counter", !name.hasSuffix("_total") {
            throw Fault(line: name, reason: "a counter's name ends in _total")
        }
        guard family.kind == "histogram" else { return }
        let allBuckets = Dictionary(grouping: family.samples.filter { $0.name == name + "_bucket" }) {
            sample in
            sample.labels.filter { $0.key != "le" }
        }
        for count in family.samples where count.name == name + "_count" {
            let buckets = allBuckets[count.labels] ?? []
            let ends = try buckets.map { bucket in
                guard let end = bucket.labels["le"].flatMap(Self.number) else {
                    throw Fault(line: "\(bucket)", reason: "le must be a number")
                }
                return end
            }
            let values = buckets.map(\.value)
            guard ends == ends.sorted(), Set(ends).count == ends.count, ends.last == .infinity,
                values == values.sorted(), values.last == count.value,
                family.samples.contains(where: { $0.name == name + "_sum" && $0.labels == count.labels })
            else { throw Fault(line: "\(count)", reason: "buckets do not add up") }
        }
    }

    private static func cut(_ text: Substring) -> (String, String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        return (parts.first.map(String.init) ?? "", parts.count > 1 ? String(parts[1]) : "")
    }

    private static func sample(_ line: String) throws -> Sample {
        var rest = Substring(line)
        let name = String(
            rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
        )
        guard let first = name.first, !first.isNumber else { throw Fault(line: line, reason: "no name") }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                let label = String(rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
                rest = rest.dropFirst(label.count)
                guard !label.isEmpty, label.first?.isNumber == false, rest.hasPrefix("=\"") else {
                    throw Fault(line: line, reason: "not a label")
                }
                rest = rest.dropFirst(2)
                var raw = ""
                while let next = rest.first, next != "\"" {
                    raw.append(next)
                    rest = rest.dropFirst()
                    if next == "\\", let escaped = rest.popFirst() { raw.append(escaped) }
                }
                guard rest.popFirst() == "\"", labels[label] == nil else {
                    throw Fault(line: line, reason: "an open or repeated label")
                }
                labels[label] = try unescape(raw, quotes: true)
                if rest.first == "," { rest = rest.dropFirst() }
            }
            rest = rest.dropFirst()
        }
        guard rest.first == " ", let value = number(String(rest.dropFirst())) else {
            throw Fault(line: line, reason: "no number")
        }
        return Sample(name: name, labels: labels, value: value)
    }

    private static func number(_ text: String) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: text.allSatisfy { "0123456789.eE+-".contains($0) } ? Double(text) : nil
        }
    }

    private static func unescape(_ text: String, quotes: Bool) throws -> String {
        var result = ""
        var isEscaped = false
        for character in text {
            if isEscaped {
                switch character {
                case "\\": result += "\\"
                case "n": result += "\n"
                case "\"" where quotes: result += "\""
                default: throw Fault(line: text, reason: "unknown escape")
                }
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                result.append(character)
            }
        }
        if isEscaped { throw Fault(line: text, reason: "an open escape") }
        return result
    }
}
