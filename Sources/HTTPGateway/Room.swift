enum HTTPGatewayRoom {}
