/// The types of the specification, with their numbers.
public enum BSONType: Int32, Sendable, Hashable, CaseIterable {
    case double = 1
    case string = 2
    case document = 3
    case array = 4
    case binary = 5
    case undefined = 6
    case objectID = 7
    case bool = 8
    case date = 9
    case null = 10
    case regex = 11
    case dbPointer = 12
    case code = 13
    case symbol = 14
    case codeWithScope = 15
    case int32 = 16
    case timestamp = 17
    case int64 = 18
    case decimal128 = 19
    case minKey = -1
    case maxKey = 127
}
