import BSON
public import Errors
public import MQL
import Schemas

/// What one caller may do with one collection: rules, resolved with everything that is known
/// before a document is seen.
///
/// The only gate to data; the sync bridge uses the same value.
///
/// The filters of this type narrow statements; ``visible(_:)`` and ``denial(of:before:after:)`` are
/// the meaning. Where a filter is not exact, both must be asked.
///
/// Made by ``RoleResolver``. Documents are taken to have an `_id`, as all stored ones do.
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

    /// Whether rules, filters and schemas do not apply.
    public let isSystem: Bool
    /// Whether something of `%%request` was looked at, or functions are asked, so that another request may have
    /// another plan.
    public let dependsOnRequest: Bool
    /// What functions answer on whom decisions about documents depend; nil where rules ask none.
    ///
    /// After each decision its open questions are to be answered, and the decision to be made anew.
    public let answers: FunctionAnswers?
    /// Whether queries of this caller must not look at what is hidden (D10).
    let guardsHiddenFields: Bool
    /// In the order of their file; the first that applies decides.
    let roles: [ResolvedRole]
    /// nil where the schema constrains nothing.
    private(set) var schema: ResolvedSchema?

    init(
        queryFilter: Filter,
        queryProjection: Projection?,
        read: ReadForm,
        roles: [ResolvedRole],
        schema: ResolvedSchema?,
        dependsOnRequest: Bool,
        answers: FunctionAnswers?,
        guardsHiddenFields: Bool
    ) {
        self.queryFilter = queryFilter
        self.queryProjection = queryProjection
        readFilter = read.filter
        readFilterIsExact = read.isExact
        readsWholeDocuments = read.isWhole
        isSystem = false
        self.dependsOnRequest = dependsOnRequest
        self.answers = answers
        self.guardsHiddenFields = guardsHiddenFields
        self.roles = roles
        self.schema = schema
    }

    private init() {
        queryFilter = .all
        queryProjection = nil
        readFilter = .all
        readFilterIsExact = true
        readsWholeDocuments = true
        isSystem = true
        dependsOnRequest = false
        answers = nil
        guardsHiddenFields = false
        roles = []
        schema = nil
    }

    /// The plan of the system user: rules, filters and schemas do not apply (`rules.md` §12).
    public static let system = AccessPlan()

    /// The same plan for devices, whose properties may be null wherever the schema does not require them.
    ///
    /// Source: `rules.md` §14.3.
    public var takingNullForOptionalFields: AccessPlan {
        var plan = self
        plan.schema?.options.allowsNullForOptionalFields = true
        return plan
    }

    /// The role that decides if any does, since no other could; for logs.
    public var soleRole: String? { roles.count == 1 ? roles[0].name : nil }

    /// The role that decides about a document at rest, if any applies.
    func role(for images: DocumentImages) -> ResolvedRole? {
        let evaluator = ConditionEvaluator(images)
        return roles.first { evaluator.holds($0.applyWhen) }
    }
}

/// The kinds of change that rules tell apart.
public enum WriteKind: Sendable, Hashable {
    case insert
    case update
    case delete
}

/// A condition on the two images of a change that SQL can decide; nil images never occur in it.
///
/// `.after(.all)` is always true, `.after(.nothing)` never.
public indirect enum WritePredicate: Sendable, Hashable {
    case before(Filter)
    case after(Filter)
    case and([WritePredicate])
    case or([WritePredicate])
    case not(WritePredicate)
}

/// Why a write is refused; the reason is for the log, the caller gets one fixed text per kind.
public struct Denial: Sendable {
    /// The change that was asked for.
    public let kind: WriteKind
    /// The role that decided, when one applied.
    public let role: String?
    /// What decided, for the log.
    public let reason: String
    /// Whether the document does not fit the schema; the role permits the write then.
    public let isSchema: Bool

    /// A refusal with its reason.
    public init(kind: WriteKind, role: String?, reason: String, isSchema: Bool = false) {
        self.kind = kind
        self.role = role
        self.reason = reason
        self.isSchema = isSchema
    }

    /// What the caller is told (D7): `insert not permitted`.
    public var message: String {
        switch kind {
        case .insert: "insert not permitted"
        case .update: "update not permitted"
        case .delete: "delete not permitted"
        }
    }

    /// The refusal as the caller gets it, with the reason for the log.
    ///
    /// Source: `rules.md` §13.2.
    public var error: ServiceError {
        ServiceError(
            isSchema ? .schemaValidationFailedWrite : .noMatchingRuleFound,
            "\(known: message)",
            cause: DenialReason(role: role, reason: reason)
        )
    }
}

/// The precise reason of a denial, for the log alone.
public struct DenialReason: Error, Sendable, CustomStringConvertible {
    /// The role that decided, when one applied.
    public let role: String?
    /// What decided.
    public let reason: String

    /// For the log: `role "owner": denied by write filter`.
    public var description: String { role.map { "role \"\($0)\": \(reason)" } ?? reason }
}
