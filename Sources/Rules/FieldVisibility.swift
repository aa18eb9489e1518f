import BSON
import MQL
import Schemas

/// How much of a path a caller sees, as far as rules tell without a document.
enum FieldVisibility: Hashable {
    /// In every document that is visible, the path's top-level field is seen as it is stored.
    case whole
    /// It depends on the document, or only parts are seen.
    case partly
    /// In no document.
    case hidden

    /// What is left when two rules must both show it.
    func and(_ other: FieldVisibility) -> FieldVisibility {
        if self == .hidden || other == .hidden { return .hidden }
        return self == .whole && other == .whole ? .whole : .partly
    }
}

extension ResolvedRole {
    /// How much of a path the role shows; nil for a role that shows nothing at all.
    func visibility(of path: [String]) -> FieldVisibility? {
        if let documentRead, documentRead.isNever, documentWrite?.isNever ?? true { return nil }
        if let read {
            return read.isNever && write?.isNever ?? true ? nil : .whole
        }
        if write?.isYes ?? false || fields.grantsAll(.read) { return .whole }
        let byFields = fields.visibility(of: path)
        if let write, !write.isNever { return byFields == .whole ? .whole : .partly }
        return fields.grantsNothing(.read) ? nil : byFields
    }
}

extension ResolvedFields {
    fileprivate func visibility(of path: [String]) -> FieldVisibility {
        guard let name = path.first, let entry = permission(of: name) else { return .hidden }
        if entry.isOwn {
            if entry.grantsAlways(.read) { return .whole }
            return entry.grantsNever(.read) ? .hidden : .partly
        }
        return entry.shows(path.dropFirst()) ? .partly : .hidden
    }
}

extension ResolvedField {
    /// Whether something at a path below the field can be seen; numbers may be places in an array.
    fileprivate func shows(_ path: ArraySlice<String>) -> Bool {
        if isOwn { return !grantsNever(.read) }
        guard let name = path.first else { return !grantsNever(.read) }
        if let field = nested[FieldName(name)], field.shows(path.dropFirst()) { return true }
        return name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && shows(path.dropFirst())
    }
}

extension Projection {
    /// How much of a path is left of a document that is whole.
    func visibility(of path: [String]) -> FieldVisibility {
        let path = FieldPath(components: path)
        guard let root = path.components.first else { return .partly }
        if TextOrder.equal(root, "_id"), !items.contains(where: { TextOrder.equal($0.path.root, "_id") }) {
            return includesID ? .whole : .hidden
        }
        let related = items.filter { TextOrder.equal($0.path.root, root) }
        if related.isEmpty { return mode == .inclusion ? .hidden : .whole }
        for case .path(let shown) in related {
            if mode == .exclusion, shown.isPrefix(of: path) { return .hidden }
            if mode == .inclusion, shown.components.count == 1 { return .whole }
        }
        return .partly
    }
}
