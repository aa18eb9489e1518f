/// A growing run of bytes that is written without checks of its own: room is asked for first.
///
/// It frees its memory when it goes out of scope, and its pointer never leaves it.
struct ByteSink: ~Copyable {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = .allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    /// Makes room for so many more bytes.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if count &+ more > capacity { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let wanted = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
        capacity = wanted
    }

    /// Appends one byte; room must have been reserved.
    @inline(__always)
    mutating func put(_ byte: UInt8) {
        base[count] = byte
        count &+= 1
    }

    /// Appends a few bytes one by one, which for short runs is faster than a call; room must be reserved.
    @inline(__always)
    mutating func put(_ start: UnsafePointer<UInt8>, _ length: Int) {
        if length <= 16 {
            let target = base + count
            for index in 0..<length { target[index] = start[index] }
        } else {
            (base + count).update(from: start, count: length)
        }
        count &+= length
    }

    /// Appends a literal; room must have been reserved.
    @inline(__always)
    mutating func put(_ literal: StaticString) {
        put(literal.utf8Start, literal.utf8CodeUnitCount)
    }

    /// Appends bytes from elsewhere, making room.
    mutating func append(_ bytes: [UInt8]) {
        reserve(bytes.count)
        bytes.withUnsafeBufferPointer { buffer in
            if let start = buffer.baseAddress { put(start, buffer.count) }
        }
    }
}
