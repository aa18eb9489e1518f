import BSON
import Errors

/// The documents of one partition in their order, and what functions give at each of them.
struct WindowPartition {
    let documents: [BSONDocument]
    /// What the documents are sorted by; empty without an order.
    let keys: [SortKey]
    let sort: Sort?
    let context: EvaluationContext
    var memory: MemoryBound

    /// One value for each document.
    mutating func values(
        of function: WindowFunction,
        over frame: WindowFrame
    ) throws(ServiceError) -> [BSONValue] {
        let values: [BSONValue]
        switch function {
        case .accumulator(let accumulator):
            values = try accumulated(accumulator, frames(frame), slides: frame.slides)
        case .covariance(let operand, let isSample):
            values = try covariances(operand, isSample: isSample, frames(frame))
        case .rank: values = ranks(dense: false)
        case .denseRank: values = ranks(dense: true)
        case .documentNumber: values = documents.indices.map { Self.counted($0 + 1) }
        case .shift(let output, let distance, let fallback):
            values = try shifted(output, by: distance, fallback)
        case .movingAverage(let input, let alpha): values = try movingAverages(input, alpha)
        case .derivative(let input, let unit): values = try derivatives(input, unit, frames(frame))
        case .integral(let input, let unit): values = try integrals(input, unit, frames(frame))
        case .linearFill(let operand): values = try interpolated(operand)
        case .carryForward(let operand): values = try carried(operand)
        }
        for value in values { try memory.add(value) }
        return values
    }

    /// The values of an expression, document by document; nil where it is missing.
    func evaluate(_ expression: AggregationExpression) throws(ServiceError) -> [BSONValue?] {
        var values: [BSONValue?] = []
        values.reserveCapacity(documents.count)
        for document in documents { values.append(try expression.evaluate(document, context)) }
        return values
    }

    /// What the documents are sorted by, as a value: the path of the only key.
    func sortValues() throws(ServiceError) -> [BSONValue?] {
        guard let path = sort?.keys.first?.path else { return documents.map { _ in nil } }
        return try evaluate(.path(path))
    }

    static func counted(_ number: Int) -> BSONValue {
        Int32(exactly: number).map { .int32($0) } ?? .int64(Int64(number))
    }

    /// Equal documents share a number; after them it goes on by one, or by how many they were.
    private func ranks(dense: Bool) -> [BSONValue] {
        guard let sort else { return [] }
        var rank = 0
        var values: [BSONValue] = []
        for place in documents.indices {
            if place == 0 || keys[place].compare(keys[place - 1], by: sort) != 0 {
                rank = dense ? rank + 1 : place + 1
            }
            values.append(Self.counted(rank))
        }
        return values
    }

    private func shifted(
        _ output: AggregationExpression,
        by distance: Int,
        _ fallback: BSONValue
    ) throws(ServiceError) -> [BSONValue] {
        var values: [BSONValue] = []
        for place in documents.indices {
            let source = place + distance
            values.append(
                documents.indices.contains(source)
                    ? try output.evaluate(documents[source], context) ?? .null : fallback
            )
        }
        return values
    }

    /// Each value weighs alpha, all before it the rest; what is no number gives null and counts nothing.
    private func movingAverages(
        _ input: AggregationExpression,
        _ alpha: Decimal128
    ) throws(ServiceError) -> [BSONValue] {
        var average: Decimal128?
        var hasDecimal = false
        let rest = Decimal128(Int64(1)) - alpha
        var values: [BSONValue] = []
        for value in try evaluate(input) {
            guard let number = NumericValue(value) else {
                values.append(.null)
                continue
            }
            hasDecimal = hasDecimal || number.isDecimal
            let next = average.map { number.decimalValue * alpha + $0 * rest } ?? number.decimalValue
            average = next
            values.append(hasDecimal ? .decimal128(next) : .double(next.doubleValue))
        }
        return values
    }

    private func carried(_ operand: AggregationExpression) throws(ServiceError) -> [BSONValue] {
        var last = BSONValue.null
        return try evaluate(operand).map { value in
            if let value, !value.isNullish { last = value }
            return last
        }
    }
}
