import BSON

/// What `$setWindowFields` computes: partitions, their order, and fields over frames of documents.
public struct WindowArguments: Sendable {
    /// What documents of one partition agree in; nil makes one partition of all.
    var partition: AggregationExpression?
    /// The order inside a partition; nil leaves it as it came.
    var sort: Sort?
    /// The fields, in the order in which they are set.
    var outputs: [WindowOutput]
}

/// One field of `$setWindowFields`.
struct WindowOutput: Sendable {
    let path: FieldPath
    let function: WindowFunction
    let frame: WindowFrame
}

/// Which documents of a partition a function sees at each of them.
enum WindowFrame: Sendable {
    /// Places relative to the current document; nil has no bound.
    case documents(lower: Int?, upper: Int?)
    /// Distances in the sort value; with a unit, it is a date.
    case range(lower: RangeBound, upper: RangeBound, unit: DateUnit?)

    static let whole = WindowFrame.documents(lower: nil, upper: nil)

    /// Whether documents leave the frame as it moves on.
    var slides: Bool {
        switch self {
        case .documents(let lower, _): lower != nil
        case .range(.unbounded, _, _): false
        case .range: true
        }
    }
}

/// One end of a frame in the sort value.
enum RangeBound: Sendable {
    case unbounded
    case current
    case offset(NumericValue)

    var isOffset: Bool { if case .offset = self { true } else { false } }
}

/// What is computed for each document of a partition.
enum WindowFunction: Sendable {
    /// An accumulator over the frame.
    case accumulator(Accumulator)
    /// `$covariancePop`, `$covarianceSamp`
    case covariance(AggregationExpression, isSample: Bool)
    case rank
    case denseRank
    case documentNumber
    /// `{$shift: {output, by, default}}`
    case shift(AggregationExpression, by: Int, fallback: BSONValue)
    /// `{$expMovingAvg: {input, N}}`, or with alpha, which `N` stands for.
    case movingAverage(AggregationExpression, alpha: Decimal128)
    /// `{$derivative: {input, unit}}`; the unit in milliseconds.
    case derivative(AggregationExpression, unit: Int64?)
    /// `{$integral: {input, unit}}`
    case integral(AggregationExpression, unit: Int64?)
    case linearFill(AggregationExpression)
    /// `$locf`: the last value that is not null.
    case carryForward(AggregationExpression)

    /// The expressions inside, for the check of what callers may use.
    var expressions: [AggregationExpression] {
        switch self {
        case .accumulator(let accumulator):
            [accumulator.operand] + (accumulator.limit.map { [$0] } ?? [])
        case .covariance(let operand, _), .shift(let operand, _, _), .movingAverage(let operand, _),
            .derivative(let operand, _), .integral(let operand, _), .linearFill(let operand),
            .carryForward(let operand):
            [operand]
        case .rank, .denseRank, .documentNumber: []
        }
    }
}

extension DateUnit {
    /// Milliseconds, for units that a rate may be given in.
    var rateMilliseconds: Int64? {
        switch self {
        case .week: 7 * 86_400_000
        case .day: 86_400_000
        case .hour, .minute, .second, .millisecond: milliseconds
        case .year, .quarter, .month: nil
        }
    }
}
