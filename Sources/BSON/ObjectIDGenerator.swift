internal import Synchronization

/// Makes ObjectIds as the drivers do: seconds, five bytes of this process, a counter of three bytes.
///
/// The clock and the random bytes come from the caller; ids of one generator are distinct as long as fewer
/// than 2^24 are made within a second.
public final class ObjectIDGenerator: Sendable {
    private let process: UInt64
    private let counter: Atomic<UInt32>

    /// Takes five random bytes, of which higher ones are ignored, and where counting begins: random too, so
    /// that restarts do not collide.
    public init(processUnique: UInt64, counter: UInt32) {
        process = (processUnique & 0xFF_FFFF_FFFF) << 24
        self.counter = Atomic(counter)
    }

    /// The next id, for a time in seconds since 1970.
    public func next(seconds: UInt32) -> ObjectID {
        let count = counter.wrappingAdd(1, ordering: .relaxed).oldValue
        return ObjectID(seconds: seconds, unique: process | UInt64(count & 0xFF_FFFF))
    }
}
