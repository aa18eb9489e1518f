enum ObservabilityRoom {}
