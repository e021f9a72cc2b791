package launch

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// CPUs is how much computing time a process may use.
type CPUs struct {
	Cores int     // that it may run on
	Quota float64 // what its cgroup grants, in CPUs; 0 means that there is no limit
}

// FindCPUs looks at the process's affinity and, on Linux, at the quotas of its cgroup and of those above.
func FindCPUs() CPUs {
	return CPUs{runtime.NumCPU(), quota(os.DirFS("/"))}
}

// Whole returns the number of whole CPUs, at least 1. A worker needs one: on a part of a CPU it would fall behind the
// listener whenever the quota is used up.
func (c CPUs) Whole() int {
	n := c.Cores
	if c.Quota > 0 {
		n = min(n, int(c.Quota))
	}
	return max(n, 1)
}

func (c CPUs) String() string {
	cores := "1 core"
	if c.Cores != 1 {
		cores = fmt.Sprintf("%d cores", c.Cores)
	}
	if c.Quota == 0 {
		return cores
	}
	return fmt.Sprintf("%s, limited to %s by its cgroup", cores,
		strconv.FormatFloat(math.Floor(c.Quota*100)/100, 'f', -1, 64))
}

// quota returns the smallest quota that binds the process, in CPUs, or 0.
func quota(root fs.FS) float64 { return tightest(root, "cpu", quotaV2, quotaV1) }

func quotaV2(root fs.FS, dir string) float64 {
	f := strings.Fields(text(root, path.Join(dir, "cpu.max"))) // "200000 100000" or "max 100000"
	if len(f) != 2 {
		return 0
	}
	return ratio(f[0], f[1])
}

func quotaV1(root fs.FS, dir string) float64 {
	quota := strings.TrimSpace(text(root, path.Join(dir, "cpu.cfs_quota_us"))) // -1 means none
	period := strings.TrimSpace(text(root, path.Join(dir, "cpu.cfs_period_us")))
	return ratio(quota, period)
}

func ratio(quota, period string) float64 {
	q, err := strconv.ParseInt(quota, 10, 64)
	p, perr := strconv.ParseInt(period, 10, 64)
	if err != nil || perr != nil || q <= 0 || p <= 0 {
		return 0
	}
	return float64(q) / float64(p)
}
