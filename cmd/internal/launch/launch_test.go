package launch

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/spf13/pflag"
)

func TestFromEnv(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		want settings
		err  string
	}{
		"nothing is given":       {nil, nil, settings{1, false, "a", nil}, ""},
		"the environment speaks": {nil, map[string]string{"SWAR_WORK_ERS": "3", "SWAR_OPEN": "true", "SWAR_WORD": "b"}, settings{3, true, "b", nil}, ""},
		"the command line wins":  {[]string{"--work-ers=2", "--word=b"}, map[string]string{"SWAR_WORK_ERS": "3", "SWAR_WORD": "a"}, settings{2, false, "b", nil}, ""},
		"empty is absent":        {nil, map[string]string{"SWAR_WORK_ERS": "", "SWAR_WORD": " "}, settings{1, false, "a", nil}, ""},
		"a list with commas in its values": {
			nil, map[string]string{"SWAR_KEYS": "one=x,y\n\ttwo  three=z\n"},
			settings{1, false, "a", []string{"one=x,y", "two", "three=z"}}, "",
		},
		"a list of one":                        {nil, map[string]string{"SWAR_KEYS": "one"}, settings{1, false, "a", []string{"one"}}, ""},
		"a list on the command line wins":      {[]string{"--keys=one two"}, map[string]string{"SWAR_KEYS": "three"}, settings{1, false, "a", []string{"one two"}}, ""},
		"a variable of somebody else":          {nil, map[string]string{"WORK_ERS": "3", "SWAR_OTHER": "x"}, settings{1, false, "a", nil}, ""},
		"a number that is too large":           {nil, map[string]string{"SWAR_WORK_ERS": "9223372036854775808"}, settings{}, `SWAR_WORK_ERS: "9223372036854775808": the number is too large`},
		"neither yes nor no":                   {nil, map[string]string{"SWAR_OPEN": "perhaps"}, settings{}, `SWAR_OPEN: "perhaps": want true or false`},
		"the version is not a setting":         {nil, map[string]string{"SWAR_VERSION": "v1"}, settings{1, false, "a", nil}, ""},
		"help is not a setting":                {nil, map[string]string{"SWAR_HELP": "true"}, settings{1, false, "a", nil}, ""},
		"a number that is none":                {nil, map[string]string{"SWAR_WORK_ERS": "many"}, settings{}, `SWAR_WORK_ERS: "many": want a whole number`},
		"a word that is not among the choices": {nil, map[string]string{"SWAR_WORD": "c"}, settings{}, `SWAR_WORD: "c": want one of a, b`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			flags, got := newFlags()
			if err := flags.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			err := FromEnv(flags, func(key string) (string, bool) { v, ok := tt.env[key]; return v, ok })
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("error = %v, want %q…", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := got(); got.n != tt.want.n || got.open != tt.want.open || got.word != tt.want.word ||
				!slices.Equal(got.keys, tt.want.keys) {
				t.Errorf("settings = %+v, want %+v", got, tt.want)
			}
		})
	}
	t.Run("a flag from the environment counts as given", func(t *testing.T) {
		flags, _ := newFlags()
		if err := FromEnv(flags, func(key string) (string, bool) { return "5", key == "SWAR_WORK_ERS" }); err != nil {
			t.Fatal(err)
		}
		if !flags.Changed("work-ers") || flags.Changed("open") {
			t.Errorf("Changed = %v and %v, want true for the one that was given", flags.Changed("work-ers"),
				flags.Changed("open"))
		}
	})
}

type settings struct {
	n    int
	open bool
	word string
	keys []string
}

func newFlags() (*pflag.FlagSet, func() settings) {
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	n := f.Int("work-ers", 1, "")
	open := f.Bool("open", false, "")
	word := Choice(f, "word", "", "a", "b")
	keys := f.StringArray("keys", nil, "")
	f.Bool("help", false, "")
	return f, func() settings { return settings{*n, *open, *word, *keys} }
}

func TestChoiceOnTheCommandLine(t *testing.T) {
	flags, _ := newFlags()
	if err := flags.Parse([]string{"--word", "c"}); err == nil || !strings.Contains(err.Error(), "want one of a, b") {
		t.Errorf("error = %v, want the choices", err)
	}
	if got := flags.Lookup("word").DefValue; got != "a" {
		t.Errorf("default = %q, want the first", got)
	}
}

// halting takes so many bytes and then no more.
type halting struct {
	room int
	err  error
}

func (h *halting) Write(p []byte) (int, error) {
	if n := h.room; n < len(p) {
		h.room = 0
		return n, h.err
	}
	h.room -= len(p)
	return len(p), nil
}

func TestLinesThatAreLostAreCounted(t *testing.T) {
	for name, tt := range map[string]struct {
		to   halting
		want int64
	}{
		"all are written":                    {halting{room: 1000}, 0},
		"one is written, two are not":        {halting{room: 60, err: errors.New("disk full")}, 2},
		"none is":                            {halting{err: errors.New("broken pipe")}, 3},
		"a part of one, and nothing is said": {halting{room: 98}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewLogWriter(&tt.to)
			log := slog.New(slog.NewTextHandler(w,
				&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey {
						return slog.Attr{}
					}
					return a
				}}))
			for range 3 {
				log.Info("a line of a log") // 33 bytes with its level and its end
			}
			if got := w.Dropped(); got != tt.want {
				t.Errorf("%d lines are lost, want %d", got, tt.want)
			}
		})
	}
}

func TestNewLog(t *testing.T) {
	tests := map[string]struct {
		level, format string
		terminal      bool
		want          string // of what debug, info and warn write, without the time
	}{
		"text":                  {"info", "text", false, "level=INFO msg=i n=1\nlevel=WARN msg=w\n"},
		"json":                  {"info", "json", true, `{"level":"INFO","msg":"i","n":1}` + "\n" + `{"level":"WARN","msg":"w"}` + "\n"},
		"everything":            {"debug", "text", false, "level=DEBUG msg=d\nlevel=INFO msg=i n=1\nlevel=WARN msg=w\n"},
		"little":                {"warn", "text", false, "level=WARN msg=w\n"},
		"nothing":               {"error", "text", false, ""},
		"auto on a terminal":    {"warn", "auto", true, "level=WARN msg=w\n"},
		"auto without terminal": {"warn", "auto", false, `{"level":"WARN","msg":"w"}` + "\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log, err := newLog(&out, tt.terminal, tt.level, tt.format)
			if err != nil {
				t.Fatal(err)
			}
			log.Debug("d")
			log.Info("i", "n", 1)
			log.Warn("w")
			if got := withoutTime(out.String()); got != tt.want {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
		})
	}
	for _, bad := range [][2]string{{"loud", "text"}, {"info", "xml"}} {
		if _, err := newLog(&bytes.Buffer{}, false, bad[0], bad[1]); err == nil {
			t.Errorf("newLog(%q, %q) succeeded", bad[0], bad[1])
		}
	}
	for _, level := range logLevels {
		for _, format := range logFormats {
			if _, err := newLog(&bytes.Buffer{}, false, level, format); err != nil {
				t.Errorf("newLog(%q, %q): %v", level, format, err)
			}
		}
	}
}

func withoutTime(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		if rest, ok := strings.CutPrefix(line, `{"time":"`); ok {
			_, rest, _ = strings.Cut(rest, `",`)
			b.WriteString("{" + rest)
			continue
		}
		_, rest, _ := strings.Cut(line, " ")
		b.WriteString(rest)
	}
	return b.String()
}

func TestTheFirstSignalEndsTheContextAndALaterOneCallsAgain(t *testing.T) {
	tests := map[string]struct {
		pauses []time.Duration // before each signal
		again  int
	}{
		"one":                            {[]time.Duration{0}, 0},
		"its echo":                       {[]time.Duration{0, 0}, 0},
		"an echo at the limit":           {[]time.Duration{0, echo}, 0},
		"just behind the limit":          {[]time.Duration{0, echo + 1}, 1},
		"an echo, then an impatient one": {[]time.Duration{0, 0, time.Second}, 1},
		"two impatient ones":             {[]time.Duration{0, time.Second, 0}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				received := make(chan os.Signal)
				done := make(chan struct{})
				again := 0
				go func() {
					defer close(done)
					watch(received, cancel, func(s os.Signal) {
						if again++; s != syscall.SIGINT {
							t.Errorf("again(%v)", s)
						}
					})
				}()
				for i, pause := range tt.pauses {
					time.Sleep(pause)
					received <- []os.Signal{syscall.SIGTERM, syscall.SIGINT}[min(i, 1)]
				}
				close(received)
				<-done
				if got := context.Cause(ctx); got != error(Interrupt{syscall.SIGTERM}) {
					t.Errorf("cause = %v, want the first signal", got)
				}
				if again != tt.again {
					t.Errorf("again was called %d times, want %d", again, tt.again)
				}
			})
		})
	}
}

func TestSignals(t *testing.T) {
	ctx, stop := Signals(t.Context(), func(s os.Signal) { t.Errorf("again(%v)", s) })
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if i, ok := errors.AsType[Interrupt](context.Cause(ctx)); !ok || i.Signal != syscall.SIGTERM {
		t.Errorf("cause = %v, want the signal", context.Cause(ctx))
	}
	stop()
	stop()

	ctx, stop = Signals(t.Context(), nil)
	stop()
	if err := context.Cause(ctx); err != context.Canceled {
		t.Errorf("cause after stop = %v, want context.Canceled", err)
	}
}

func TestWholeCPUs(t *testing.T) {
	tests := map[string]struct {
		cpus CPUs
		want int
		text string
	}{
		"no limit":               {CPUs{8, 0}, 8, "8 cores"},
		"one core":               {CPUs{1, 0}, 1, "1 core"},
		"a limit":                {CPUs{8, 2}, 2, "8 cores, limited to 2 by its cgroup"},
		"just below a whole one": {CPUs{8, 2.999}, 2, "8 cores, limited to 2.99 by its cgroup"},
		"half a CPU":             {CPUs{8, 0.5}, 1, "8 cores, limited to 0.5 by its cgroup"},
		"more than there are":    {CPUs{2, 16}, 2, "2 cores, limited to 16 by its cgroup"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.cpus.Whole(); got != tt.want {
				t.Errorf("Whole = %d, want %d", got, tt.want)
			}
			if got := tt.cpus.String(); got != tt.text {
				t.Errorf("String = %q, want %q", got, tt.text)
			}
		})
	}
}

func TestQuota(t *testing.T) {
	const (
		v2     = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw,nsdelegate\n"
		v1     = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
		docker = "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	)
	tests := map[string]struct {
		mounts, own string
		files       map[string]string // below sys/fs/cgroup
		want        float64
	}{
		"nothing is readable": {"", "", nil, 0},
		"version 2":           {v2, "0::/a/b\n", map[string]string{"a/b/cpu.max": "150000 100000\n"}, 1.5},
		"version 2 without a limit": {
			v2, "0::/a/b\n", map[string]string{"a/b/cpu.max": "max 100000\n", "a/cpu.max": "max 100000\n"}, 0,
		},
		"the group above is stricter": {
			v2, "0::/a/b\n", map[string]string{"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "200000 100000\n"}, 2,
		},
		"the group above is looser": {
			v2, "0::/a/b\n", map[string]string{"a/b/cpu.max": "100000 100000\n", "a/cpu.max": "200000 100000\n"}, 1,
		},
		"a container that sees only itself": {v2, "0::/\n", map[string]string{"cpu.max": "50000 100000\n"}, 0.5},
		"version 1": {
			v1, "4:cpuset:/x\n3:cpu,cpuacct:/a\n",
			map[string]string{"cpu,cpuacct/a/cpu.cfs_quota_us": "300000\n",
				"cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 3,
		},
		"version 1 without a limit": {
			v1, "3:cpu,cpuacct:/\n", map[string]string{"cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
				"cpu,cpuacct/cpu.cfs_period_us": "100000\n"}, 0,
		},
		"version 1 in a container that is told the host's path": {
			docker, "1:cpu:/docker/abc\n", map[string]string{"cpu/cpu.cfs_quota_us": "250000\n",
				"cpu/cpu.cfs_period_us": "100000\n"}, 2.5,
		},
		"a path outside of what is mounted": {
			docker, "1:cpu:/other\n", map[string]string{"cpu/cpu.cfs_quota_us": "100000\n",
				"cpu/cpu.cfs_period_us": "100000\n"}, 1,
		},
		"both versions at once": {
			v1 + v2, "3:cpu,cpuacct:/a\n0::/\n",
			map[string]string{"cpu,cpuacct/a/cpu.cfs_quota_us": "200000",
				"cpu,cpuacct/a/cpu.cfs_period_us": "100000"}, 2,
		},
		"numbers that are none": {v2, "0::/\n", map[string]string{"cpu.max": "many few\n"}, 0},
		"a period of nothing":   {v2, "0::/\n", map[string]string{"cpu.max": "100000 0\n"}, 0},
		"lines that are none":   {"a b c\n - \nx - y\n" + v2, "::::\nnothing\n0::/\n", map[string]string{"cpu.max": "100000 100000\n"}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{"proc/self/mountinfo": {Data: []byte(tt.mounts)},
				"proc/self/cgroup": {Data: []byte(tt.own)}}
			for name, text := range tt.files {
				root["sys/fs/cgroup/"+name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := quota(root); got != tt.want {
				t.Errorf("quota = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestFindCPUs(t *testing.T) {
	if c := FindCPUs(); c.Cores < 1 || c.Quota < 0 || c.Whole() < 1 {
		t.Errorf("FindCPUs = %+v", c)
	}
}

func TestMemory(t *testing.T) {
	const (
		v2   = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw,nsdelegate\n"
		v1   = "32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		none = "9223372036854771712\n"
	)
	tests := map[string]struct {
		mounts, own string
		files       map[string]string // below sys/fs/cgroup
		want        int64
	}{
		"nothing is readable":          {"", "", nil, 0},
		"version 2":                    {v2, "0::/a\n", map[string]string{"a/memory.max": "536870912\n"}, 512 << 20},
		"version 2 without a limit":    {v2, "0::/a\n", map[string]string{"a/memory.max": "max\n"}, 0},
		"the group above is stricter":  {v2, "0::/a/b\n", map[string]string{"a/b/memory.max": "2048", "a/memory.max": "1024"}, 1024},
		"version 1":                    {v1, "4:memory:/a\n3:cpu:/x\n", map[string]string{"memory/a/memory.limit_in_bytes": "4096\n", "memory/memory.limit_in_bytes": none}, 4096},
		"version 1 without a limit":    {v1, "4:memory:/\n", map[string]string{"memory/memory.limit_in_bytes": none}, 0},
		"a limit that is none":         {v2, "0::/\n", map[string]string{"memory.max": "much\n"}, 0},
		"a limit of nothing":           {v2, "0::/\n", map[string]string{"memory.max": "0\n"}, 0},
		"that of another controller":   {v1, "3:cpu:/\n", map[string]string{"cpu/memory.limit_in_bytes": "4096\n"}, 0},
		"the most that counts as one":  {v2, "0::/\n", map[string]string{"memory.max": "4503599627370496\n"}, 1 << 52},
		"the least that counts as one": {v2, "0::/\n", map[string]string{"memory.max": "1\n"}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{"proc/self/mountinfo": {Data: []byte(tt.mounts)},
				"proc/self/cgroup": {Data: []byte(tt.own)}}
			for name, text := range tt.files {
				root["sys/fs/cgroup/"+name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := memory(root); got != tt.want {
				t.Errorf("memory = %d, want %d", got, tt.want)
			}
		})
	}
	if got := FindMemory(); got < 0 {
		t.Errorf("FindMemory = %d", got)
	}
}
