package launch

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
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

// Whole returns the number of whole CPUs, at least 1. A worker needs one: on a part of a CPU it would fall behind the listener
// whenever the quota is used up.
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
	return fmt.Sprintf("%s, limited to %s by its cgroup", cores, strconv.FormatFloat(math.Floor(c.Quota*100)/100, 'f', -1, 64))
}

// quota returns the smallest quota that binds the process, in CPUs, or 0. It cannot fail: without a readable cgroup there is no limit
// to know of.
func quota(root fs.FS) float64 {
	own := cgroups(root)
	least := 0.0
	for _, m := range mounts(root) {
		var dir string
		var read func(fs.FS, string) float64
		switch {
		case m.kind == "cgroup2":
			dir, read = own[""], quotaV2
		case m.kind == "cgroup" && slices.Contains(m.options, "cpu"):
			dir, read = own["cpu"], quotaV1
		default:
			continue
		}
		// In a container the mount shows only what is below its own root, while the path may still be the host's.
		below, ok := strings.CutPrefix(dir, strings.TrimSuffix(m.root, "/"))
		if !ok {
			below = ""
		}
		for below = path.Clean("/" + below); ; below = path.Dir(below) {
			if q := read(root, path.Join(m.point, below)); q > 0 && (least == 0 || q < least) {
				least = q
			}
			if below == "/" {
				break
			}
		}
	}
	return least
}

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

// cgroups returns the process's path in the hierarchy of each controller, and under "" that in the unified one.
func cgroups(root fs.FS) map[string]string {
	paths := make(map[string]string)
	for line := range strings.Lines(text(root, "proc/self/cgroup")) {
		// "4:cpu,cpuacct:/user.slice" or "0::/user.slice"
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, dir, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		for c := range strings.SplitSeq(controllers, ",") {
			paths[c] = dir
		}
	}
	return paths
}

type mount struct {
	root    string // of what is mounted, inside its file system
	point   string // where, relative to /
	kind    string
	options []string
}

func mounts(root fs.FS) []mount {
	var all []mount
	for line := range strings.Lines(text(root, "proc/self/mountinfo")) {
		// 33 24 0:28 /root /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
		where, what, ok := strings.Cut(line, " - ")
		w, k := strings.Fields(where), strings.Fields(what)
		if !ok || len(w) < 5 || len(k) < 3 {
			continue
		}
		all = append(all, mount{w[3], strings.TrimPrefix(w[4], "/"), k[0], strings.Split(k[2], ",")})
	}
	return all
}

func text(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}
