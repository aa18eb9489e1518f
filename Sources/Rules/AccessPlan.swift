public import BSON
public import Errors
public import MQL

/// What one caller may do with one collection: rules, resolved with everything that is known
/// before a document is seen. The only gate to data; the sync bridge uses the same value.
///
/// The filters of this type narrow statements; ``visible(_:)`` and ``denial(of:before:after:)`` are
/// the meaning. Where a filter is not exact, both must be asked.
public struct AccessPlan: Sendable {
    /// Joined by AND with the caller's filter, on reads and writes (rule filters, `rules.md` §4).
    public let queryFilter: Filter
    /// Joined with the caller's projection.
    public let queryProjection: Projection?
    /// Every document of which the caller may see something satisfies this.
    public let readFilter: Filter
    /// Whether every document that satisfies ``readFilter`` may be seen, at least in part.
    public let readFilterIsExact: Bool
    /// Whether a document that may be seen may be seen whole, so that ``visible(_:)`` changes nothing.
    public let readsWholeDocuments: Bool

    // Stored roles and evaluation: see the other files of this room.
}

/// The kinds of change that rules tell apart.
public enum WriteKind: Sendable, Hashable {
    case insert
    case update
    case delete
}

/// A condition on the two images of a change that SQL can decide; nil images never occur in it.
public indirect enum WritePredicate: Sendable {
    case before(Filter)
    case after(Filter)
    case and([WritePredicate])
    case or([WritePredicate])
    case not(WritePredicate)
}

/// Why a write is refused; the reason is for the log, the caller gets one fixed text per kind.
public struct Denial: Sendable {
    public let kind: WriteKind
    /// The role that decided, when one applied.
    public let role: String?
    public let reason: String

    public init(kind: WriteKind, role: String?, reason: String) {
        self.kind = kind
        self.role = role
        self.reason = reason
    }
}

/// What `%%request` expands to.
public struct RuleRequest: Sendable {
    public init() {}
}
