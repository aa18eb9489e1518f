enum PostgresRoom {}
