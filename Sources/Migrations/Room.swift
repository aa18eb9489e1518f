enum MigrationsRoom {}
