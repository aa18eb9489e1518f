import BSON
import Errors

/// Roughly how many bytes values take, so that generated ones stay bounded.
///
/// Values share memory, so that a few nested constructors can describe more than any machine
/// holds; what is counted is the size written out.
enum ValueSize {
    /// The most bytes that one generated value may take.
    static let maximum = 64 << 20
    /// So many bytes one text must not take, written or generated.
    static let maximumText = 16 << 20
    /// The deepest that a generated value may be nested.
    static let maximumDepth = 200

    /// The size of a value; stops counting once it is past `limit`.
    static func of(_ value: BSONValue, limit: Int = maximum) -> Int {
        var total = 0
        add(value, to: &total, limit: limit)
        return total
    }

    static func of(_ document: BSONDocument, limit: Int = maximum) -> Int {
        var total = 5
        for field in document.fields {
            total &+= field.key.utf8.count &+ 2
            add(field.value, to: &total, limit: limit)
            if total > limit { break }
        }
        return total
    }

    private static func add(_ value: BSONValue, to total: inout Int, limit: Int) {
        if total > limit { return }
        switch value {
        case .string(let text), .code(let text), .symbol(let text): total &+= text.utf8.count &+ 32
        case .document(let document):
            total &+= 32
            for field in document.fields {
                total &+= field.key.utf8.count &+ 2
                add(field.value, to: &total, limit: limit)
                if total > limit { return }
            }
        case .array(let elements):
            total &+= 32
            for element in elements {
                add(element, to: &total, limit: limit)
                if total > limit { return }
            }
        case .binary(let binary): total &+= binary.bytes.count &+ 32
        case .regex(let regex): total &+= regex.pattern.utf8.count &+ 32
        case .codeWithScope(let code):
            total &+= code.code.utf8.count &+ 16 &+ of(code.scope, limit: limit)
        default: total &+= 32
        }
    }

    /// Adds the sizes of the parts of one generated value.
    struct Sum {
        private var total = 0
        private let meter: EvaluationMeter

        /// - Parameter meter: Counts the walks over values, which may share memory, as work.
        init(_ meter: EvaluationMeter) {
            self.meter = meter
        }

        /// - Throws: ``ServiceError`` with server code 292 past ``ValueSize/maximum``.
        mutating func add(_ value: BSONValue) throws(ServiceError) {
            let before = total
            ValueSize.add(value, to: &total, limit: ValueSize.maximum)
            try meter.spend((total &- before) >> 5)
            if total > ValueSize.maximum { throw ValueSize.tooLarge }
        }
    }

    static var tooLarge: ServiceError {
        .mongo(
            .exceededMemoryLimit,
            "An expression's value exceeds the memory limit of \(maximum) bytes"
        )
    }

    /// Refuses a text that reaches the bound.
    static func checkText(_ bytes: Int) throws(ServiceError) {
        if bytes >= maximumText {
            throw .mongo(
                16493,
                "Tried to create string longer than \(maximumText / (1 << 20))MB"
            )
        }
    }

    /// Refuses a value that is nested too deeply to be stored or compared.
    static func checkDepth(_ value: BSONValue) throws(ServiceError) {
        if value.isDeeper(than: maximumDepth) { throw tooDeep }
    }

    static func checkDepth(_ document: BSONDocument) throws(ServiceError) {
        if document.isDeeper(than: maximumDepth) { throw tooDeep }
    }

    private static var tooDeep: ServiceError {
        .mongo(.overflow, "The value is nested deeper than \(maximumDepth) levels")
    }
}
