import Errors

/// Something that takes bytes from strangers, and what must hold whatever they are.
protocol FuzzSubject {
    /// Its name, and the name of its file of seeds.
    var name: String { get }
    /// Whether the seeds are written as hexadecimal digits.
    var isBinary: Bool { get }
    /// Seeds that are not in the file.
    var moreSeeds: [[UInt8]] { get }

    /// Takes one input.
    ///
    /// - Returns: Whether it was understood, so that more than the refusing was tried.
    /// - Throws: ``Finding`` when it breaks a promise; refusing the input is none.
    func run(_ input: [UInt8]) throws -> Bool
}

extension FuzzSubject {
    var isBinary: Bool { false }
    var moreSeeds: [[UInt8]] { [] }
}

/// A promise that an input broke.
struct Finding: Error {
    let what: String

    init(_ what: String) {
        self.what = what
    }
}

/// Runs what may refuse its input: every refusal has to be one that a caller understands.
///
/// - Returns: nil when it refused.
func attempt<Value>(_ body: () throws(ServiceError) -> Value) throws -> Value? {
    do {
        return try body()
    } catch {
        if error.code == .internalServerError { throw Finding("internal error: \(error.message)") }
        return nil
    }
}
