import BSON

/// A running sum: exact for integers, compensated for doubles, exact for decimals up to 34 digits.
struct NumericSum {
    private var integers: Int128 = 0
    private var high = 0.0
    private var low = 0.0
    private var decimals: Decimal128?
    private var hasDouble = false
    private var hasLong = false
    /// How many numbers were added.
    private(set) var count = 0

    /// Adds a number; what is none is passed over.
    mutating func add(_ value: BSONValue?) {
        guard let number = NumericValue(value) else { return }
        count &+= 1
        switch number {
        case .int(let value): integers &+= Int128(value)
        case .long(let value):
            hasLong = true
            integers &+= Int128(value)
        case .double(let value):
            hasDouble = true
            addDouble(value)
        case .decimal(let value): decimals = (decimals ?? Decimal128(Int64(0))) + value
        }
    }

    /// Adds what another sum has.
    mutating func merge(_ other: NumericSum) {
        integers &+= other.integers
        hasLong = hasLong || other.hasLong
        if other.hasDouble {
            hasDouble = true
            addDouble(other.high)
            low += other.low
        }
        if let more = other.decimals { decimals = (decimals ?? Decimal128(Int64(0))) + more }
        count &+= other.count
    }

    /// Knuth's two-sum, so that 0.1 added ten times is 1.
    private mutating func addDouble(_ value: Double) {
        let sum = high + value
        let part = sum - high
        let error = (high - (sum - part)) + (value - part)
        high = sum
        if sum.isFinite { low += error } else { low = 0 }
    }

    private var double: Double {
        var copy = self
        if integers != 0 {
            let nearest = Double(integers)
            copy.addDouble(nearest)
            copy.low += Double(integers - Int128(nearest))
        }
        return copy.high + copy.low
    }

    private var decimal: Decimal128 {
        var total = decimals ?? Decimal128(Int64(0))
        if hasDouble { total = total + Decimal128(high) + Decimal128(low) }
        if let whole = Int64(exactly: integers) {
            // A zero too: 0E+6111 plus 0 is 0.
            total = total + Decimal128(whole)
        } else {
            total = total + (Decimal128(integers.description) ?? Decimal128(Double(integers)))
        }
        return total
    }

    /// The sum; an int 0 when nothing was added.
    var value: BSONValue {
        if decimals != nil { return .decimal128(decimal) }
        if hasDouble { return .double(double) }
        if !hasLong, let small = Int32(exactly: integers) { return .int32(small) }
        if let whole = Int64(exactly: integers) { return .int64(whole) }
        return .double(Double(integers))
    }

    /// The mean: a double, or a decimal when one was added; null when nothing was.
    var average: BSONValue {
        if count == 0 { return .null }
        if decimals != nil { return .decimal128(decimal / Decimal128(Int64(count))) }
        return .double(double / Double(count))
    }
}

/// A running standard deviation, by Welford's method.
struct StandardDeviation {
    private var count = 0.0
    private var mean = 0.0
    private var squares = 0.0

    /// Adds a number; what is none is passed over.
    mutating func add(_ value: BSONValue?) {
        guard let number = NumericValue(value)?.doubleValue else { return }
        count += 1
        let delta = number - mean
        mean += delta / count
        squares += delta * (number - mean)
    }

    /// Adds what another deviation has seen, by Chan's formula.
    mutating func merge(_ other: StandardDeviation) {
        guard other.count > 0 else { return }
        let total = count + other.count
        let delta = other.mean - mean
        mean += delta * other.count / total
        squares += other.squares + delta * delta * count * other.count / total
        count = total
    }

    /// The deviation of a whole population, or of a sample, which needs two numbers.
    func value(isSample: Bool) -> BSONValue {
        let divisor = isSample ? count - 1 : count
        return divisor <= 0 ? .null : .double((squares / divisor).squareRoot())
    }
}
