import BSON
import Errors

/// `$regexMatch`, `$regexFind`, `$regexFindAll`.
extension OperatorEvaluator {
    func regex(_ op: ExpressionOperator, _ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let name = op.rawValue
        let input = try operands.value("input")
        let pattern = try operands.value("regex")
        let options = try operands.value("options")
        let compiled = try compile(pattern, options, name)
        let text: String?
        switch input {
        case nil, .null, .undefined: text = nil
        case .string(let subject): text = subject
        default:
            throw .mongo(51104, "\(name) needs 'input' to be of type string")
        }
        guard let text, let compiled else {
            return switch op {
            case .regexMatch: .bool(false)
            case .regexFind: .null
            default: .array([])
            }
        }
        switch op {
        case .regexMatch: return .bool(try compiled.matches(text))
        case .regexFind:
            guard let found = try compiled.captures(in: text, from: 0), let whole = found.first ?? nil else {
                return .null
            }
            let bytes = Array(text.utf8)
            return match(found, whole, in: bytes, index: codePoints(bytes[..<whole.lowerBound]))
        default: return try findAll(compiled, text)
        }
    }

    private func compile(_ pattern: BSONValue?, _ options: BSONValue?, _ name: String)
        throws(ServiceError) -> CompiledPattern?
    {
        var flags: String?
        switch options {
        case nil, .null, .undefined: break
        case .string(let text):
            if text.utf8.contains(0) {
                throw .mongo(
                    51110,
                    "\(name): regular expression options cannot contain an embedded null byte"
                )
            }
            flags = text
        default: throw .mongo(51106, "\(name) needs 'options' to be of type string")
        }
        let source: String
        switch pattern {
        case nil, .null, .undefined: return nil
        case .string(let text): source = text
        case .regex(let regex):
            source = regex.pattern
            if !regex.options.isEmpty {
                if flags != nil {
                    throw .mongo(
                        51107,
                        "\(name): found regex option(s) specified in both 'regex' and 'option' fields"
                    )
                }
                flags = regex.options
            }
        default: throw .mongo(51105, "\(name) needs 'regex' to be of type string or regex")
        }
        if source.utf8.count > Self.maximumPatternBytes {
            throw .mongo(51111, "Invalid Regex in \(known: name): the pattern is too long")
        }
        if source.utf8.contains(0) {
            throw .mongo(51109, "\(name): regular expression cannot contain an embedded null byte")
        }
        do throws(ServiceError) {
            return try RegexMatcher.compiled(pattern: source, options: flags ?? "")
        } catch {
            guard error.serverCode?.number == 51091 else { throw error }
            throw .mongo(51111, "Invalid Regex in \(known: name): \(error.sentence)")
        }
    }

    /// PCRE's own bound in MongoDB's build.
    private static let maximumPatternBytes = 16_384

    private func findAll(_ pattern: CompiledPattern, _ text: String) throws(ServiceError) -> BSONValue {
        let bytes = Array(text.utf8)
        var results: [BSONValue] = []
        var size = ValueSize.Sum(context.meter)
        var start = 0
        var counted = 0
        var index = 0
        repeat {
            guard let found = try pattern.captures(in: text, from: start), let whole = found.first ?? nil
            else { break }
            try context.meter.spend(16)
            index += codePoints(bytes[counted..<max(counted, whole.lowerBound)])
            counted = max(counted, whole.lowerBound)
            let result = match(found, whole, in: bytes, index: index)
            try size.add(result)
            results.append(result)
            // After an empty match the search goes on behind the next character.
            start = whole.upperBound
            if whole.isEmpty {
                start += 1
                while start < bytes.count, bytes[start] & 0xC0 == 0x80 { start += 1 }
            }
            // An empty match at the very end counts only where the whole text is empty.
        } while start < bytes.count
        return .array(results)
    }

    private func match(_ captures: [Range<Int>?], _ whole: Range<Int>, in bytes: [UInt8], index: Int)
        -> BSONValue
    {
        func text(_ range: Range<Int>) -> BSONValue {
            bytes.startIndex <= range.lowerBound && range.upperBound <= bytes.endIndex
                ? .string(String(decoding: bytes[range], as: UTF8.self)) : .null
        }
        return [
            "match": text(whole), "idx": .int32(Int32(clamping: index)),
            "captures": .array(captures.dropFirst().map { $0.map(text) ?? .null }),
        ]
    }

    private func codePoints(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    }
}
