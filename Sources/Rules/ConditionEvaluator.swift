import BSON
import Errors
import MQL

/// The states of a document that conditions are decided on.
struct DocumentImages {
    /// What `%%root` is.
    let root: BSONDocument?
    /// `%%prevRoot`; nil when the document is new.
    let prevRoot: BSONDocument?
    /// `%%this` of a field; nil where the field is absent.
    var this: BSONValue?
    /// `%%prev` of a field.
    var prev: BSONValue?

    init(root: BSONDocument?, prevRoot: BSONDocument?, this: BSONValue? = nil, prev: BSONValue? = nil) {
        self.root = root
        self.prevRoot = prevRoot
        self.this = this
        self.prev = prev
    }

    /// A document at rest: nothing changes, so both states are the same.
    static func stored(_ document: BSONDocument) -> DocumentImages {
        DocumentImages(root: document, prevRoot: document)
    }

    /// The same documents, seen from one field.
    func field(_ this: BSONValue?, _ prev: BSONValue?) -> DocumentImages {
        DocumentImages(root: root, prevRoot: prevRoot, this: this, prev: prev)
    }

    /// A document and a path at which the referred values stand; nil when the image itself is absent.
    func place(of reference: ImageReference) -> (document: BSONDocument, path: [String])? {
        switch reference.image {
        case .root: root.map { Self.place($0, reference.path) }
        case .prevRoot: prevRoot.map { Self.place($0, reference.path) }
        case .this: root == nil ? nil : (this.map { ["v": $0] } ?? [:], ["v"] + reference.path)
        case .prev: prevRoot == nil ? nil : (prev.map { ["v": $0] } ?? [:], ["v"] + reference.path)
        }
    }

    private static func place(_ document: BSONDocument, _ path: [String]) -> (BSONDocument, [String]) {
        path.isEmpty ? (["v": .document(document)], ["v"]) : (document, path)
    }
}

/// Decides conditions on documents that are there.
struct ConditionEvaluator {
    let images: DocumentImages

    init(_ images: DocumentImages) {
        self.images = images
    }

    /// Whether the condition is true; unknown is not.
    func holds(_ condition: Condition) -> Bool {
        truth(condition) == .yes
    }

    func truth(_ condition: Condition) -> Truth {
        switch condition {
        case .constant(let truth): return truth
        case .not(let member): return truth(member).negated
        case .all(let members):
            var result = Truth.yes
            for member in members {
                switch truth(member) {
                case .yes: continue
                case .no: return .no
                case .unknown: result = .unknown
                }
            }
            return result
        case .any(let members):
            var result = Truth.no
            for member in members {
                switch truth(member) {
                case .no: continue
                case .yes: return .yes
                case .unknown: result = .unknown
                }
            }
            return result
        case .test(let reference, let test): return decide(reference, test)
        case .comparison(let left, let kind, let right): return decide(left, kind, right)
        }
    }

    private func decide(_ reference: ImageReference, _ test: KnownTest) -> Truth {
        guard let place = images.place(of: reference) else {
            // An image that is not there has no value to compare; it can only be asked for.
            if case .field(.exists(let wanted)) = test { return Truth(!wanted) }
            return .unknown
        }
        return Self.matches(test, place.document, place.path)
    }

    private func decide(_ left: Condition.LeftSide, _ kind: ComparisonKind, _ right: RuleOperand) -> Truth {
        guard case .value(let value, let fromExpansion) = PartialEvaluator.resolve(right, lookUp: lookUp),
            let test = kind.known(value, fromExpansion: fromExpansion)
        else { return .unknown }
        switch left {
        case .image(let reference): return decide(reference, test)
        case .known(let document, let path): return Self.decide(test, document, path)
        }
    }

    private func lookUp(_ expansion: Expansion) -> PartialEvaluator.Resolved {
        guard case .image(let reference) = expansion, let place = images.place(of: reference),
            let value = value(at: place.path, in: place.document)
        else { return .missing }
        return .value(value, fromExpansion: true)
    }

    // MARK: Known values

    /// A test on a known left-hand side: one that is missing is unknown, and can only be asked for.
    static func decide(_ test: KnownTest, _ document: BSONDocument, _ path: [String]) -> Truth {
        if case .field(.exists(let wanted)) = test { return Truth(exists(document, path) == wanted) }
        guard exists(document, path) else { return .unknown }
        return matches(test, document, path)
    }

    static func exists(_ document: BSONDocument, _ path: [String]) -> Bool {
        matches(.field(.exists(true)), document, path) == .yes
    }

    private static func matches(_ test: KnownTest, _ document: BSONDocument, _ path: [String]) -> Truth {
        do throws(ServiceError) {
            return Truth(
                try test.filter(at: FieldPath(components: path)).matches(document, EvaluationContext(now: 0))
            )
        } catch {
            // What cannot be evaluated is neither true nor false, so nothing follows from it.
            return .unknown
        }
    }
}
