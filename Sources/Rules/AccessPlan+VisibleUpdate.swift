public import BSON
public import MQL

extension AccessPlan {
    /// Puts a change that was computed on what the caller sees into the document.
    ///
    /// - Parameters:
    ///   - update: What was asked: an operator on a path that the document's role hides is refused, whatever the
    ///     document holds there.
    ///   - stored: The document before.
    ///   - seen: What the caller sees of it.
    ///   - after: What the update made of `seen`.
    /// - Returns: The document after; or why there is none.
    public func merging(
        _ update: Update,
        stored: BSONDocument,
        seen: BSONDocument,
        after: BSONDocument
    ) -> Result<BSONDocument, DeniedUpdate> {
        func denied(_ path: [String]) -> Result<BSONDocument, DeniedUpdate> {
            .failure(
                DeniedUpdate(
                    denial: Denial(
                        kind: .update,
                        role: role(for: .stored(stored))?.name,
                        reason:
                            "denied by field \"\(path.joined(separator: "."))\" permission: it is not readable"
                    )
                )
            )
        }
        if let path = hiddenTarget(of: update, stored) { return denied(path) }
        do throws(VisibleEdit.HiddenFieldTouched) {
            return .success(try VisibleEdit.merge(stored: stored, seen: seen, after: after))
        } catch {
            return denied(error.path)
        }
    }

    /// A path that an operator writes and that the document's role never shows.
    private func hiddenTarget(of update: Update, _ stored: BSONDocument) -> [String]? {
        guard case .operators(let changes, _) = update, let role = role(for: .stored(stored)) else {
            return nil
        }
        for change in changes {
            var targets = [change.path]
            switch change.action {
            // Nothing is inserted here.
            case .setOnInsert: continue
            case .rename(let target): targets.append(target)
            default: break
            }
            for target in targets {
                let path = target.components.compactMap { component -> String? in
                    if case .name(let name) = component { name } else { nil }
                }
                let byProjection = guardsHiddenFields ? queryProjection?.visibility(of: path) : nil
                if role.visibility(of: path) == .hidden || byProjection == .hidden { return path }
            }
        }
        return nil
    }
}

/// Why a change that was computed on what a caller sees cannot be made.
public struct DeniedUpdate: Error {
    /// What the caller gets to know, and the log.
    public let denial: Denial
}
