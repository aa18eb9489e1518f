import BSON
import CCollation
import Errors

/// A language's order of texts: what is equal in it, and what comes first.
///
/// Texts become keys whose bytes stand in the language's order, by ICU as in MongoDB. Keys are compared in memory
/// and never stored, so that another release of ICU may order otherwise without harm.
///
/// Source: `reference/mql.md` §4.
public struct Collation: Sendable, Hashable {
    /// What a request says of it; nil leaves it to the locale.
    struct Settings: Sendable, Hashable {
        var locale: String
        /// 1: letters; 2: accents as well; 3: case as well; 4 and 5: more.
        var strength = 3
        var caseLevel: Bool?
        var caseFirst: CaseFirst?
        var numericOrdering: Bool?
        var ignoresPunctuation: Bool?
        var ignoresOnlySpaces: Bool?
        var normalization: Bool?
        var backwards: Bool?
    }

    /// Which case comes first where only case differs.
    enum CaseFirst: String {
        case upper, lower, off
    }

    private let settings: Settings
    private let collator: Collator

    /// The collation of some settings.
    ///
    /// - Throws: ``ServiceError`` with server code 2 for a locale that nobody knows.
    init(_ settings: Settings) throws(ServiceError) {
        self.settings = settings
        collator = try Collator(settings)
    }

    /// Two are equal whose settings are.
    public static func == (first: Collation, second: Collation) -> Bool { first.settings == second.settings }

    /// By the settings.
    public func hash(into hasher: inout Hasher) { hasher.combine(settings) }

    /// A text whose bytes stand where the text stands in the collation.
    func key(_ text: String) -> String { collator.key(text) }

    /// The value with keys in the place of its texts; names of fields stay.
    func keyed(_ value: BSONValue) -> BSONValue {
        switch value {
        case .string(let text), .symbol(let text): .string(key(text))
        case .array(let elements): .array(elements.map(keyed))
        case .document(let document):
            .document(BSONDocument(document.fields.map { .init(key: $0.key, value: keyed($0.value)) }))
        default: value
        }
    }
}

/// ICU's collator.
///
/// `@unchecked Sendable`: the pointer is set up in `init`, freed in `deinit` and never changed in between; ICU lets
/// any number of threads ask such a collator for keys.
private final class Collator: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ settings: Collation.Settings) throws(ServiceError) {
        let unknown = ServiceError.mongo(
            .badValue,
            "Field 'locale' is invalid in: { locale: \"\(MessageText.shortened(settings.locale))\" }"
        )
        // ICU would make the best of any text.
        guard settings.locale.utf8.count <= 150, !settings.locale.utf8.contains(0),
            let pointer = collator_open(settings.locale)
        else { throw unknown }
        self.pointer = pointer
        guard apply(settings) else {
            throw .mongo(.badValue, "the collation's settings do not go together")
        }
    }

    deinit { collator_close(pointer) }

    private func apply(_ settings: Collation.Settings) -> Bool {
        var values: [(collator_attribute, Int?)] = [(COLLATOR_STRENGTH, settings.strength)]
        func flag(_ attribute: collator_attribute, _ value: Bool?) {
            values.append((attribute, value.map { $0 ? 1 : 0 }))
        }
        flag(COLLATOR_CASE_LEVEL, settings.caseLevel)
        flag(COLLATOR_NUMERIC, settings.numericOrdering)
        flag(COLLATOR_NORMALIZATION, settings.normalization)
        flag(COLLATOR_BACKWARDS, settings.backwards)
        flag(COLLATOR_SHIFTED, settings.ignoresPunctuation)
        flag(COLLATOR_ONLY_SPACES, settings.ignoresOnlySpaces)
        switch settings.caseFirst {
        case nil: break
        case .off?: values.append((COLLATOR_CASE_FIRST, 0))
        case .upper?: values.append((COLLATOR_CASE_FIRST, 1))
        case .lower?: values.append((COLLATOR_CASE_FIRST, 2))
        }
        return values.allSatisfy { attribute, value in
            value.map { collator_set(pointer, Int32(attribute.rawValue), Int32($0)) != 0 } ?? true
        }
    }

    /// ICU's bytes, each as the scalar of its number: texts of scalars compare as the bytes would.
    func key(_ text: String) -> String {
        let units = Array(text.utf16)
        var bytes = [UInt8](repeating: 0, count: units.count * 4 + 16)
        let count = Int32(clamping: units.count)
        var length = collator_key(pointer, units, count, &bytes, Int32(clamping: bytes.count))
        if length > bytes.count {
            bytes = [UInt8](repeating: 0, count: Int(length))
            length = collator_key(pointer, units, count, &bytes, length)
        }
        var scalars = String.UnicodeScalarView()
        // The last byte is a zero that ends the key.
        for byte in bytes.prefix(max(Int(length) - 1, 0)) { scalars.append(Unicode.Scalar(byte)) }
        return String(scalars)
    }
}
