package espeak

// Fed is what the program is fed for a normalised text, for the tests from outside.
func Fed(text string) string { return prepare(text).text }
