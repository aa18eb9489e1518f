import BSON

extension AppConfigurationParser {
    mutating func functions() -> [FunctionDefinition] {
        var functions: [FunctionDefinition] = []
        for (name, function) in tree.functions.sorted(by: { $0.key < $1.key }) {
            var reader = ObjectReader(function.config)
            _ = reader.value("name")
            if name.utf8.count > 256 || name.utf8.contains(0) {
                reader.error("name", "must be at most 256 bytes without NUL")
            }
            // An export writes functions/<name>.js, and an import leaves hidden files out.
            if !name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy(FileTree.isFileName) {
                reader.error("name", "'\(name)' cannot be the path of a file")
            }
            let condition = condition(&reader)
            functions.append(
                FunctionDefinition(
                    name: name,
                    isPrivate: reader.flag("private"),
                    runsAsSystem: reader.flag("run_as_system"),
                    runsAsUserID: reader.text("run_as_user_id"),
                    runsAsUserScript: reader.text("run_as_user_id_script_source"),
                    canEvaluate: condition,
                    hidesArguments: reader.flag("disable_arg_logs"),
                    source: function.source
                )
            )
            for key in ["can_evaluate_expression", "last_modified", "fetch_custom_user_data"] {
                _ = reader.value(key)
            }
            reader.reportUnknown()
            reader.note(.imported, "function '\(name)'")
            findings.append(contentsOf: reader.findings)
        }
        return functions
    }

    /// The methods that an endpoint may have.
    private enum Method: String, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
        case any = "*"
    }

    mutating func endpoints() -> [EndpointDefinition] {
        var endpoints: [EndpointDefinition] = []
        for node in tree.endpoints {
            var reader = ObjectReader(node)
            let route = reader.requiredText("route")
            if let route, !route.hasPrefix("/") { reader.error("route", "must begin with a slash") }
            let method = reader.word("http_method", Method.self) ?? .any
            let function = reader.requiredText("function_name")
            let validation = validation(&reader, dependent: "endpoint \(method.rawValue) \(route ?? "")")
            let endpoint = EndpointDefinition(
                route: route ?? "",
                httpMethod: method.rawValue,
                functionName: function ?? "",
                validation: validation,
                respondsWithResult: reader.flag("respond_result"),
                returnType: returnType(&reader, default: .extendedJSON),
                fetchesCustomUserData: reader.flag("fetch_custom_user_data"),
                createsUserOnAuth: reader.flag("create_user_on_auth"),
                isDisabled: reader.flag("disabled")
            )
            for key in ["function_id", "secret_id", "last_modified"] { _ = reader.value(key) }
            reader.reportUnknown()
            reader.note(.imported, "endpoint \(method.rawValue) \(endpoint.route)")
            findings.append(contentsOf: reader.findings)
            endpoints.append(endpoint)
        }
        return endpoints
    }

    /// Reads `validation_method`, which prose also spells `verification_method`, and its secret.
    mutating func validation(_ reader: inout ObjectReader, dependent: String) -> RequestValidation {
        let key = reader.document["validation_method"] == nil ? "verification_method" : "validation_method"
        let method = reader.text(key) ?? "NO_VALIDATION"
        let secret = reader.text("secret_name")
        func named(_ make: (String) -> RequestValidation) -> RequestValidation {
            guard let secret else {
                reader.error("secret_name", "is missing; \(method) needs it")
                return .none
            }
            refer(to: secret, at: reader.place.key("secret_name"), for: dependent)
            return make(secret)
        }
        switch method {
        case "NO_VALIDATION": return .none
        case "SECRET_AS_QUERY_PARAM": return named { .secretAsQueryParameter(secretName: $0) }
        case "VERIFY_PAYLOAD": return named { .payloadSignature(secretName: $0) }
        default:
            reader.error(
                key,
                "must be NO_VALIDATION, SECRET_AS_QUERY_PARAM or VERIFY_PAYLOAD, is '\(method)'"
            )
            return .none
        }
    }

    func returnType(_ reader: inout ObjectReader, default standard: ReturnType) -> ReturnType {
        guard let text = reader.text("return_type") else { return standard }
        guard let type = ReturnType(rawValue: text) else {
            reader.error("return_type", "must be JSON or EJSON, is '\(text)'")
            return standard
        }
        return type
    }
}
