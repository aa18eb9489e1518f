import BSON
import HTTPTypes

/// The form of an answer, by `Accept` (data-api.md §4.2).
enum ResponseForm: Sendable {
    /// Ordinary JSON, lossy by contract.
    case json
    /// Canonical EJSON.
    case ejson

    /// The first of the two known types in the list wins; without one, what the app configures.
    init(accept: String?, configured: ResponseForm) {
        guard let accept else {
            self = configured
            return
        }
        for item in accept.split(separator: ",") {
            let type = item.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
            if type == "application/json" {
                self = .json
                return
            }
            if type == "application/ejson" {
                self = .ejson
                return
            }
        }
        self = configured
    }

    var contentType: String {
        switch self {
        case .json: "application/json"
        case .ejson: "application/ejson"
        }
    }

    var outputForm: StoredForm.OutputForm {
        switch self {
        case .json: .plain
        case .ejson: .canonical
        }
    }

    /// Writes a value in this form.
    func write(_ value: BSONValue, to bytes: inout [UInt8]) {
        switch self {
        case .json: PlainJSON.write(value, to: &bytes)
        case .ejson: ExtendedJSON.writeCanonical(value, to: &bytes)
        }
    }
}
