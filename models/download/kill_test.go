//go:build unix

package download

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// addressVariable names, to a process of this test, the address of what it brings until it is killed.
const addressVariable = "SWAR_TEST_DOWNLOAD_FROM"

// long is brought so slowly that a process can be killed in the middle of it.
var long = bytes.Repeat(content, 6)

func TestMain(m *testing.M) {
	url := os.Getenv(addressVariable)
	if url == "" {
		os.Exit(m.Run())
	}
	f := File{Name: "m", Size: int64(len(long)), SHA256: hashOf(long),
		Get: func(ctx context.Context, offset int64) (*http.Response, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return nil, err
			}
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
			return http.DefaultClient.Do(r)
		}}
	if err := Download(context.Background(), os.Args[1], []File{f}, quick); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// paced writes a piece at a time, so that little lies in buffers between the two processes.
type paced struct {
	http.ResponseWriter
	sent *atomic.Int64
}

const piece = 16 << 10

func (p paced) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		now := b[n:min(n+piece, len(b))]
		_, err = p.ResponseWriter.Write(now)
		p.ResponseWriter.(http.Flusher).Flush()
		n += len(now)
		p.sent.Add(int64(len(now)))
		time.Sleep(2 * time.Millisecond) // it is the network that takes its time here
	}
	return n, err
}

// A process that is killed, at whatever moment, costs little; and what comes in the end is right.
func TestKilledAtRandomMoments(t *testing.T) {
	const kills = 20
	var sent atomic.Int64
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(paced{w, &sent}, r, "", time.Time{}, struct{ io.ReadSeeker }{bytes.NewReader(long)})
	}))
	defer o.Close()
	dir := t.TempDir()
	bring := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], dir)
		cmd.Env = append(os.Environ(), addressVariable+"="+o.URL)
		cmd.Stderr = t.Output()
		return cmd
	}
	var inTheMiddle int
	for range kills {
		cmd, before := bring(), sent.Load()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := before + rand.Int64N(3*cost); sent.Load() <= begun && sent.Load() < int64(len(long)); {
			time.Sleep(time.Millisecond) // until it has brought that much
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if cmd.Wait() != nil {
			inTheMiddle++
		}
	}
	if err := bring().Run(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "m"))
	if err != nil || !bytes.Equal(got, long) {
		t.Errorf("there are %d bytes, %v; want the %d of the file", len(got), err, len(long))
	}
	const underWay = 16 * piece // between both processes
	t.Logf("%d of %d kills came in the middle; %d bytes were sent for %d", inTheMiddle, kills, sent.Load(), len(long))
	if most := int64(len(long)) + int64(inTheMiddle)*(cost+underWay); sent.Load() > most {
		t.Errorf("%d bytes were sent, want %d at most", sent.Load(), most)
	}
}
