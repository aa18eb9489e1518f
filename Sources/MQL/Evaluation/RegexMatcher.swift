import BSON
import Errors
import Synchronization

/// Runs regular expressions with the semantics of PCRE, as MongoDB does.
///
/// Compiled patterns are kept in a small cache that all threads share. Source: `reference/mql.md` §3.2.
enum RegexMatcher {
    /// The longest pattern, in bytes.
    static let maximumPatternBytes = 32764
    /// Two generations of at most this many patterns each: when the younger one is full it becomes
    /// the older one, so that what is in use stays and nothing is ever scanned.
    private static let generationSize = 256

    private struct Key: Hashable {
        let pattern: [UInt8]
        let options: String
    }

    private struct Cache {
        var young: [Key: CompiledPattern] = [:]
        var old: [Key: CompiledPattern] = [:]
    }

    private static let cache = Mutex(Cache())

    /// The compiled form of a pattern with options out of `imsxu`.
    ///
    /// - Throws: ``ServiceError`` with server code 2 (NUL byte), 51091 (does not compile or is too
    ///   long) or 51108 (unknown option).
    static func compiled(pattern: String, options: String) throws(ServiceError) -> CompiledPattern {
        let key = Key(pattern: Array(pattern.utf8), options: options)
        let known = cache.withLock { cache -> CompiledPattern? in
            if let found = cache.young[key] { return found }
            guard let found = cache.old[key] else { return nil }
            insert(found, key, &cache)
            return found
        }
        if let known { return known }
        let fresh = try CompiledPattern(pattern: key.pattern, options: options)
        cache.withLock { insert(fresh, key, &$0) }
        return fresh
    }

    /// Whether the pattern occurs in the text.
    ///
    /// - Throws: ``ServiceError`` with server code 51156 when the bounds on time or memory are reached.
    static func matches(_ pattern: RegexPattern, _ text: String) throws(ServiceError) -> Bool {
        try compiled(pattern: pattern.pattern, options: pattern.options).matches(text)
    }

    private static func insert(_ pattern: CompiledPattern, _ key: Key, _ cache: inout Cache) {
        if cache.young.count >= generationSize {
            cache.old = cache.young
            cache.young = [:]
        }
        cache.young[key] = pattern
    }
}
