@main
struct Tidegate {
    static func main() { print("tidegate") }
}
