package meter

import "time"

// Kind says whether an event's record is the last one of its stream.
type Kind uint8

// The kinds of records.
const (
	Progress Kind = iota // the stream continues: what it made since the record before
	Final                // the stream has ended
)

// Status is how a stream ended.
type Status string

// The ends of a stream. The first two are billed for the frames that were decoded, and failures cost nothing. A stream
// that timed out is our failure, unless audio was waiting for the client: then it is billed for what the client had
// taken.
const (
	OK        Status = "ok"
	Cancelled Status = "cancelled" // by the client, who may also just have left or read too slowly
	Failed    Status = "error"
	TimedOut  Status = "timeout"
)

// Billed reports whether the client pays for all that was decoded of a stream that ended like this.
func (s Status) Billed() bool { return s == OK || s == Cancelled }

// Event is one record about one stream that a worker was assigned to. A stream that lasts leaves a [Progress] record
// for every ten seconds of audio that its client has taken; every stream leaves one [Final] record. All records of a
// stream have the same ID, Start and Date.
//
// Frames and Billed are what was added since the record before, so that the sum over all records is what was made and
// what is to be paid. The final record of a failure that is not billed takes back, with a negative Billed, what
// progress had billed. Every other number is about the stream as a whole, and the last record is right about it.
type Event struct {
	ID    string // made by the server: evt_ and a ULID. Never the client's request id
	Seq   int64  // numbers the records of a source without gaps, from 1
	Kind  Kind
	Start time.Time // when the worker was assigned; UTC, whole microseconds
	At    time.Time // when the record was made; likewise
	Date  string    // of Start in India, such as 2026-11-21: days and months of bills are Indian

	OrgID, ProjectID, KeyID, KeyPrefix string
	Playground                         bool // the key was a short-lived one of a browser

	RequestID, Endpoint, Voice, Format string
	Status                             Status // of a final record
	Error                              string // of a failure: what the log may show

	Frames, Billed int64
	Chars          int   // code points of the normalised text
	Chunks         int   // completed
	TTFAus         int64 // microseconds from the worker to the first frame; 0 without a frame
	Queueus        int64 // microseconds of waiting for the worker
	Wallus         int64 // microseconds from the call to its end
	Synthus        int64 // microseconds that the worker computed
	PrefillCached  bool  // of the first chunk
	Seed           int64
}

// India is the time zone of days and months. It is a fixed offset: India has had no daylight saving time since 1945,
// and with a fixed offset no program needs time-zone files.
var India = time.FixedZone("Asia/Kolkata", 5*3600+30*60)

// DateOf returns the day of t in India, such as 2026-11-21.
func DateOf(t time.Time) string { return t.In(India).Format(time.DateOnly) }
