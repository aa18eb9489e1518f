enum SchemasRoom {}
