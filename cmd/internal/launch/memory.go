package launch

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// FindMemory returns the memory limit in bytes of the cgroup of this process or one above. 0 means no limit.
func FindMemory() int64 { return memory(os.DirFS("/")) }

func memory(root fs.FS) int64 { return int64(tightest(root, "memory", memoryV2, memoryV1)) }

func memoryV2(root fs.FS, dir string) float64 { // a number, or max
	return bytesIn(text(root, path.Join(dir, "memory.max")))
}

func memoryV1(root fs.FS, dir string) float64 {
	return bytesIn(text(root, path.Join(dir, "memory.limit_in_bytes")))
}

func bytesIn(text string) float64 {
	const none = 1 << 62 // version 1 has no word for it, but the most that whole pages can be
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 || n >= none {
		return 0
	}
	return float64(n)
}
