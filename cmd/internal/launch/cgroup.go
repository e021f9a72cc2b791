package launch

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// tightest returns the smallest limit of a controller on the process, in its group or in one above, or 0. The functions
// read the limit of one group, 0 for none, from the folder of either cgroup version. Without a readable cgroup there is
// no limit, and no error.
func tightest(root fs.FS, controller string, v2, v1 func(root fs.FS, dir string) float64) float64 {
	own := cgroups(root)
	least := 0.0
	for _, m := range mounts(root) {
		var dir string
		var read func(fs.FS, string) float64
		switch {
		case m.kind == "cgroup2":
			dir, read = own[""], v2
		case m.kind == "cgroup" && slices.Contains(m.options, controller):
			dir, read = own[controller], v1
		default:
			continue
		}
		// In a container the mount shows only what is below its own root, while the path may still be the host's.
		below, ok := strings.CutPrefix(dir, strings.TrimSuffix(m.root, "/"))
		if !ok {
			below = ""
		}
		for below = path.Clean("/" + below); ; below = path.Dir(below) {
			if limit := read(root, path.Join(m.point, below)); limit > 0 && (least == 0 || limit < least) {
				least = limit
			}
			if below == "/" {
				break
			}
		}
	}
	return least
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
