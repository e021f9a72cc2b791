package sqlite

import (
	"errors"
	"strconv"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/swar-tts/swar/portal/tenant"
)

// fault is a failure of the database, with what to do about it.
type fault struct {
	text   string
	passes bool // temporary, or until the advice of text is followed: the caller may retry
	err    error
}

func (f *fault) Error() string { return f.text + " (" + f.err.Error() + ")" }

func (f *fault) Unwrap() []error {
	if f.passes {
		return []error{f.err, tenant.ErrUnavailable}
	}
	return []error{f.err}
}

// fault translates a failure of the database. The portal's errors stay as they are.
func (s *Store) fault(err error) error { return explain(s.cfg.Path, s.cfg.BusyWait, err) }

func explain(path string, waited time.Duration, err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if _, explained := errors.AsType[*fault](err); !ok || explained {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return &fault{"database " + path + ": another process has been writing for more than " + waited.String() +
			"; try again, or stop it", true, err}
	case lib.SQLITE_FULL:
		return &fault{"database " + path + ": the disk is full; free some space, and it continues without loss",
			true, err}
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_AUTH:
		return &fault{"database " + path +
			" cannot be written; give the server's user write access to the file and its folder", true, err}
	case lib.SQLITE_IOERR:
		return &fault{"database " + path +
			": the disk failed; look for its errors in the system's log, and for its room and its quota", true, err}
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_FORMAT:
		return &fault{"database " + path +
			" is damaged; stop the server and restore the last backup with swar restore", false, err}
	case lib.SQLITE_NOMEM:
		return &fault{"database " + path + ": not enough memory", true, err}
	default:
		return &fault{"database " + path + " failed", false, err}
	}
}

func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == lib.SQLITE_BUSY
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
