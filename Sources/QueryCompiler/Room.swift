enum QueryCompilerRoom {}
