import BSON
import Errors
import MQL

/// The argument of a watch: whatever is taken has a pipeline that can be run over an event.
struct WatchSubject: FuzzSubject {
    let name = "watch"

    func run(_ input: [UInt8]) throws -> Bool {
        guard
            var argument = try attempt({ () throws(ServiceError) in try ExtendedJSON.readDocument(input) })
        else { return false }
        argument["database"] = "fuzz"
        argument["collection"] = "Items"
        let operation = try attempt { () throws(ServiceError) in
            try OperationParser.parseWatch(argument, service: "mongodb-atlas")
        }
        guard let operation else { return false }
        guard operation.namespace.collection == "Items" else {
            throw Finding("another collection is watched")
        }
        guard !operation.action.mayWrite else { throw Finding("a watch that may write") }
        return true
    }
}
