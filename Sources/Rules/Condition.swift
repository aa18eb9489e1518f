import BSON
import MQL

/// What a condition comes to: unknown stays unknown under negation and counts as "no" in the end.
enum Truth: Sendable, Hashable {
    case yes
    case no
    case unknown

    init(_ value: Bool) { self = value ? .yes : .no }

    var negated: Truth {
        switch self {
        case .yes: .no
        case .no: .yes
        case .unknown: .unknown
        }
    }
}

/// A rule expression after everything known of the caller has become values: what is left speaks
/// of documents only.
indirect enum Condition: Sendable, Hashable {
    case constant(Truth)
    /// A value of the document against known values.
    case test(ImageReference, KnownTest)
    /// A comparison whose right-hand side takes values of the document.
    case comparison(LeftSide, ComparisonKind, RuleOperand)
    case all([Condition])
    case any([Condition])
    case not(Condition)

    /// What stands on the left of a comparison that documents decide.
    enum LeftSide: Sendable, Hashable {
        case image(ImageReference)
        /// A known value: the document that holds it, and its path there.
        case known(BSONDocument, [String])
    }

    static let yes = Condition.constant(.yes)
    static let no = Condition.constant(.no)
    static let unknown = Condition.constant(.unknown)

    var isYes: Bool { self == .yes }
    /// Whether it can never be true.
    var isNever: Bool { self == .no || self == .unknown }

    /// The document values that it speaks of.
    var references: [ImageReference] {
        switch self {
        case .constant: []
        case .test(let reference, _): [reference]
        case .comparison(.image(let reference), _, let right): [reference] + right.imageReferences
        case .comparison(.known, _, let right): right.imageReferences
        case .all(let members), .any(let members): members.flatMap(\.references)
        case .not(let member): member.references
        }
    }

    /// Whether it speaks only of the state of the document as a whole (`owner`, `%%root.owner`).
    ///
    /// Such a permission to write must hold before and after an update; one that says `%%this`,
    /// `%%prev` or `%%prevRoot` has named its images and is asked once.
    var isAboutState: Bool { references.allSatisfy { $0.image == .root } }
}

/// Tests that do not negate and whose right-hand side is one value.
enum ComparisonKind: Sendable, Hashable {
    /// Equality; membership when an expansion gave an array.
    case equal
    case greater
    case greaterOrEqual
    case less
    case lessOrEqual
    case inside
    case allOf

    /// The test against a known value; nil for a value of the wrong kind, which nothing satisfies
    /// and nothing fails.
    func known(_ value: BSONValue, fromExpansion: Bool) -> KnownTest? {
        switch self {
        case .equal:
            if fromExpansion, case .array(let elements) = value { return .memberOrEqual(elements) }
            return .field(.compare(.equal, value))
        case .greater: return .field(.compare(.greater, value))
        case .greaterOrEqual: return .field(.compare(.greaterOrEqual, value))
        case .less: return .field(.compare(.less, value))
        case .lessOrEqual: return .field(.compare(.lessOrEqual, value))
        case .inside:
            guard case .array(let elements) = value else { return nil }
            return .field(.inside(elements.map { .value($0) }))
        case .allOf:
            guard case .array(let elements) = value else { return nil }
            return .field(.all(elements.map { .value($0) }))
        }
    }
}

/// A test on the values at one path, everything in it known.
enum KnownTest: Sendable, Hashable {
    case field(FieldTest)
    /// A scalar is one of these, or an array equals them (`rules.md` §8.2).
    case memberOrEqual([BSONValue])

    /// The test as a filter on documents in which the values stand at `path`.
    func filter(at path: FieldPath) -> Filter {
        switch self {
        case .field(let test):
            return .field(path, test)
        case .memberOrEqual(let elements):
            let member = FilterAlgebra.and([
                .field(path, .not([.type([.array])])), .field(path, .inside(elements.map { .value($0) })),
            ])
            return FilterAlgebra.or([member, .field(path, .compare(.equal, .array(elements)))])
        }
    }
}
