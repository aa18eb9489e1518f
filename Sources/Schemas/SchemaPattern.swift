import BSON
import Errors
import MQL

/// Regular expressions of schemas, compiled and matched as those of `$regex` are: PCRE, bounded.
enum SchemaPattern {
    /// Why a pattern does not compile, or nil.
    static func problem(_ pattern: RegexPattern) -> String? {
        do throws(ServiceError) {
            _ = try FilterParser.parse(["v": ["$regex": .string(pattern.pattern)]])
            return nil
        } catch {
            return error.message
        }
    }

    /// Whether the pattern is found in a text; nil when the match took too long to decide.
    static func isFound(_ pattern: RegexPattern, in text: String) -> Bool? {
        do throws(ServiceError) {
            return try Filter.field("v", .matches(pattern)).matches(
                ["v": .string(text)],
                EvaluationContext(now: 0)
            )
        } catch {
            return nil
        }
    }
}
