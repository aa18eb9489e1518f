import BSON
import MQL

extension FieldTest {
    /// Whether it compares texts, so that its outcome depends on a collation.
    ///
    /// A comparison with a value that has no text in it never comes to compare two of them.
    var comparesTexts: Bool {
        switch self {
        case .compare(_, let value): value.hasText
        case .inside(let members), .all(let members):
            members.contains { member in
                if case .value(let value) = member { value.hasText } else { false }
            }
        case .not(let tests): tests.contains(where: \.comparesTexts)
        case .elementMatch(let match): match.comparesTexts
        case .allElements(let matches): matches.contains(where: \.comparesTexts)
        case .exists, .matches, .type, .modulo, .bits, .size: false
        }
    }
}

extension ElementMatch {
    fileprivate var comparesTexts: Bool {
        switch self {
        case .value(let tests): tests.contains(where: \.comparesTexts)
        case .document(let filter): filter.comparesTexts
        }
    }
}

extension Filter {
    fileprivate var comparesTexts: Bool {
        switch self {
        case .all, .nothing: false
        case .and(let members), .or(let members), .nor(let members): members.contains(where: \.comparesTexts)
        case .field(_, let test): test.comparesTexts
        case .expression, .schema: true
        case .text: false
        }
    }
}

extension BSONValue {
    fileprivate var hasText: Bool {
        switch self {
        case .string, .symbol: true
        case .array(let elements): elements.contains(where: \.hasText)
        case .document(let document): document.fields.contains { $0.value.hasText }
        default: false
        }
    }
}
