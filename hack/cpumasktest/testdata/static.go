package main

func main() { println("not hidden") }
