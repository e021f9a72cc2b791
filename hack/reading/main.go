// Reading measures how well a normaliser reads everyday Indian messages.
package main

func main() {}
