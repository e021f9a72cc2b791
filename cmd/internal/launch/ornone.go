package launch

// OrNone converts a flag, where 0 means none, to a setting where 0 means the default. 0 → -1, 5 → 5.
func OrNone[T int | int64](n T) T {
	if n == 0 {
		return -1
	}
	return n
}
