enum ThreadingRoom {}
