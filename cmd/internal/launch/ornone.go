package launch

// OrNone is how 0, which means none in a flag, is told to what takes 0 for its default.
func OrNone[T int | int64](n T) T {
	if n == 0 {
		return -1
	}
	return n
}
