enum AppDefinitionRoom {}
