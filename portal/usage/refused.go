package usage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// maxRefusedFile is how large a file of refused events may grow: some 80,000 events.
const maxRefusedFile = 64 << 20

var errFull = fmt.Errorf("it has reached %d MiB: read it, then move it away", maxRefusedFile>>20)

// Refused is an event that was not booked.
type Refused struct {
	At     time.Time   `json:"at"`
	Reason string      `json:"reason"`
	Source string      `json:"source"`
	Event  meter.Event `json:"event"`
}

// RefusedFile keeps refused events as lines of JSON, for inspection and correction by hand. Resent events may be in it
// again. It is safe for concurrent use in one process.
type RefusedFile struct {
	path  string
	limit int64

	mu sync.Mutex
}

// NewRefusedFile returns the file at path, which is made when something is refused.
func NewRefusedFile(path string) *RefusedFile { return &RefusedFile{path: path, limit: maxRefusedFile} }

// add writes all of them, safe from a power cut, or nothing.
func (f *RefusedFile) add(all []Refused) (err error) {
	var lines bytes.Buffer
	to := json.NewEncoder(&lines)
	for _, r := range all {
		if err := to.Encode(r); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	is, err := file.Stat()
	if err != nil {
		return err
	}
	if is.Size()+int64(lines.Len()) > f.limit {
		return errFull
	}
	if _, err := file.Write(lines.Bytes()); err != nil {
		return errors.Join(err, file.Truncate(is.Size()))
	}
	return file.Sync()
}
