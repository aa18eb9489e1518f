/// What one transaction changed.
public struct Changeset: Sendable, Hashable {
    /// In the order in which they were made.
    public var instructions: [Instruction]

    /// Made of its instructions.
    public init(_ instructions: [Instruction] = []) {
        self.instructions = instructions
    }

    /// Whether nothing changed.
    public var isEmpty: Bool { instructions.isEmpty }
}
