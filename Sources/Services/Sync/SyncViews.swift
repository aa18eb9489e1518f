import BSON
import MQL
import Sync

/// What a device holds and held: its changes meet what others did in the form in which the device gets it.
struct SyncViews: Sendable {
    /// A bootstrap that the device may not know of yet.
    private struct Bootstrap {
        let version: Int64
        /// What the device held until then.
        let before: SyncView
    }

    var current: SyncView
    private var bootstraps: [Bootstrap] = []

    init(_ current: SyncView) {
        self.current = current
    }

    /// Another view, from a version on.
    mutating func change(to view: SyncView, at version: Int64) {
        bootstraps.append(Bootstrap(version: version, before: current))
        current = view
    }

    /// Takes up a bootstrap of an earlier session, by rising version.
    ///
    /// The device has it, and may yet send what it changed before.
    mutating func recall(_ before: SyncView, until version: Int64) {
        bootstraps.append(Bootstrap(version: version, before: before))
    }

    /// Lets go of what a device knows of.
    mutating func acknowledge(_ version: Int64) {
        bootstraps.removeAll { $0.version <= version }
    }

    /// What the device is told of a version by.
    subscript(version: Int64) -> SyncView {
        bootstraps.first { version <= $0.version }?.before ?? current
    }

    /// Whether a bootstrap that a device did not know of brought it an object.
    ///
    /// There the object is erased and made again, and with it goes what the device had changed in it.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - base: What the device knew when it made its change.
    ///   - context: For the queries.
    ///   - image: The document at a version.
    /// - Returns: Whether its change is gone.
    func isReplaced(
        _ object: ObjectAddress,
        after base: Int64,
        _ context: EvaluationContext,
        image: (_ version: Int64) -> BSONDocument?
    ) -> Bool {
        bootstraps.indices.contains { place in
            let bootstrap = bootstraps[place]
            guard base < bootstrap.version, let document = image(bootstrap.version) else { return false }
            let after = place + 1 < bootstraps.count ? bootstraps[place + 1].before : current
            return bootstrap.before.visible(document, object.table, context) == nil
                && after.visible(document, object.table, context) != nil
        }
    }
}
