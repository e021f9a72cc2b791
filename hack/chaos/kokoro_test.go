//go:build chaos

package chaos

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kokoroScenarios are those of an engine that computes: fewer clients, and what only it can suffer.
func kokoroScenarios() []scenario {
	usual := shape{workers: 2, slots: 1, routers: 2}
	alone := shape{serve: true, slots: 1}
	reading := shape{workers: 2, slots: 1, routers: 1, phonemiser: "phonemiser"}
	moved := shape{workers: 2, slots: 1, routers: 1, bundle: "bundle"}
	cramped := shape{workers: 2, slots: 1, routers: 1, temporary: "tmp"}
	return []scenario{
		{"workers restarted by SIGTERM", [3]int{1, 4, 40}, usual, 2, 2, 0, nil, restartWorkers},
		// failed: before the first frame, with no other slot in 2 s
		{"workers killed", [3]int{1, 8, 80}, usual, 2, 2, 0, []end{cut, failed}, killWorkers},
		{"routers killed, folder kept", [3]int{1, 6, 60}, usual, 2, 2, 0, []end{cut, gone, unready}, killRouters(true)},
		{"swar serve killed", [3]int{1, 8, 80}, alone, 2, 1, 0, []end{cut, gone, unready}, killServe},
		{"a phonemiser killed now and then", [3]int{2, 12, 100}, reading, 2, 2, 0, nil, killPhonemiser},
		{"every phonemiser killed for a while", [3]int{1, 2, 10}, reading, 2, 2, 0, []end{cut, failed}, killPhonemisers},
		{"bundle emptied and deleted", [3]int{1, 2, 10}, moved, 2, 2, 0, nil, takeBundleAway},
		{"no room for temporary files", [3]int{1, 1, 3}, cramped, 2, 2, 0, nil, fillTemporary},
	}
}

// makePlaces prepares the system for the shape: a phonemiser that can be killed, a bundle of the test's own, a
// small disk for temporary files. It completes the paths of the shape, and returns what programs that speak have in
// their environment.
func (f *fleet) makePlaces() (env []string) {
	f.t.Helper()
	s := &f.shape
	if s.phonemiser != "" {
		s.phonemiser = filepath.Join(f.folder, s.phonemiser)
		writePhonemiser(f.t, s.phonemiser)
		env = append(env, "PATH="+s.phonemiser+":"+os.Getenv("PATH"))
	}
	if s.bundle != "" {
		s.bundle = filepath.Join(f.folder, s.bundle)
		f.bringBundle()
	}
	if s.temporary != "" {
		s.temporary = filepath.Join(f.folder, s.temporary)
		mountSmallDisk(f.t, s.temporary)
		env = append(env, "TMPDIR="+s.temporary)
	}
	return env
}

// writePhonemiser writes an espeak-ng that is killed before it answers: always where a file is called all, and once
// where one is called one, which goes then.
func writePhonemiser(t testing.TB, folder string) {
	t.Helper()
	real, err := exec.LookPath("espeak-ng")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\n"+
		"if [ -e '%[1]s/all' ] || mv '%[1]s/one' \"%[1]s/was-$$\" 2>/dev/null; then kill -KILL $$; fi\n"+
		"exec '%[2]s' \"$@\"\n", folder, real)
	if err := os.WriteFile(filepath.Join(folder, "espeak-ng"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// killServe kills the only program there is, at any moment of what it speaks. It comes back with what it has billed.
func killServe(f *fleet, times int) (l loss) {
	r := f.routers[0]
	for range times {
		f.waitSpoken(1)
		time.Sleep(time.Duration(f.rand.Int64N(int64(5 * time.Second))))
		l.killed(f.t, r, true)
		r.restart(f.t)
	}
	f.waitSpoken(2)
	return l
}

// killPhonemiser kills the next one that reads a text, again and again. Nobody hears of it: the text is read once more.
func killPhonemiser(f *fleet, times int) loss {
	one := filepath.Join(f.shape.phonemiser, "one")
	for range times {
		f.moment()
		f.touch(one)
		if !within(30*time.Second, func() bool { _, err := os.Stat(one); return os.IsNotExist(err) }) {
			f.t.Error("no text is read")
		}
	}
	return loss{}
}

// killPhonemisers kills all of them for a while, after which everything is as before.
func killPhonemisers(f *fleet, times int) loss {
	all := filepath.Join(f.shape.phonemiser, "all")
	for range times {
		before := f.ledger.count(failed) + f.ledger.count(cut)
		f.touch(all)
		if !within(60*time.Second, func() bool { return f.ledger.count(failed)+f.ledger.count(cut) > before }) {
			f.t.Error("nobody has noticed that no text can be read")
		}
		f.remove(all)
		f.waitSpoken(2)
	}
	return loss{}
}

// takeBundleAway empties the files of the bundle, and then deletes them, under workers that speak from memory. Each
// comes back with the bundle when it is started again.
func takeBundleAway(f *fleet, times int) loss {
	for i := range times {
		files, err := os.ReadDir(f.shape.bundle)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, file := range files {
			if path := filepath.Join(f.shape.bundle, file.Name()); !file.IsDir() {
				if err := os.Truncate(path, 0); err != nil {
					f.t.Error(err)
				}
			}
		}
		f.waitSpoken(2)
		removeAll(f.t, f.shape.bundle)
		f.waitSpoken(2)
		f.bringBundle()
		w := f.workers[i%len(f.workers)]
		w.terminate(f.t)
		w.restart(f.t)
		f.waitAll()
	}
	return loss{}
}

// fillTemporary leaves no room for temporary files.
func fillTemporary(f *fleet, times int) loss {
	ballast := filepath.Join(f.shape.temporary, "ballast")
	for i := range times {
		fill(f.t, ballast)
		f.waitSpoken(3)
		w := f.workers[i%len(f.workers)]
		w.terminate(f.t)
		w.restart(f.t)
		f.waitAll()
		f.remove(ballast)
	}
	if left, err := os.ReadDir(f.shape.temporary); err != nil || len(left) > 0 {
		f.t.Errorf("%d temporary files are left (%v)", len(left), err)
	}
	return loss{}
}

// waitSpoken waits until so many more utterances are complete.
func (f *fleet) waitSpoken(n int) {
	f.t.Helper()
	want := f.ledger.count(complete) + n
	if !within(2*time.Minute, func() bool { return f.ledger.count(complete) >= want }) {
		f.t.Error("nobody speaks any more")
	}
}

func (f *fleet) bringBundle() {
	f.t.Helper()
	if err := os.CopyFS(f.shape.bundle, os.DirFS(speaking.bundle)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) touch(path string) {
	f.t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) remove(path string) {
	f.t.Helper()
	if err := os.Remove(path); err != nil {
		f.t.Error(err)
	}
}

// mostMemory is what the process has had at most, in MiB; 0 where it is gone.
func (p *process) mostMemory() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kilobytes >> 10
}
