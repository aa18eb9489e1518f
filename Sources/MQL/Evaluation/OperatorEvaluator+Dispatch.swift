import BSON
import Errors

extension OperatorEvaluator {
    func evaluate(_ op: ExpressionOperator, values: [BSONValue?]) throws(ServiceError) -> BSONValue? {
        throw .mongo(238, "The expression operator '\(op.rawValue)' is not supported by tidegate")
    }

    func evaluate(_ op: ExpressionOperator, named operands: [NamedExpression]) throws(ServiceError)
        -> BSONValue?
    {
        throw .mongo(238, "The expression operator '\(op.rawValue)' is not supported by tidegate")
    }
}
