//go:build !unix

package launch

// maxFiles is how many files this process may have open, up to a million.
func maxFiles() int { return 1 << 20 }
