package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"
)

// The shape of all audio: 24 kHz, mono, signed 16 bit.
const (
	SampleRate    = 24000
	FrameDuration = 80 * time.Millisecond // the unit of Frames
	FrameBytes    = 3840                  // of one frame as PCM16
)

// Format is an audio format of the API.
type Format string

// The formats of the API.
const (
	WAV   Format = "wav"   // a container around PCM16; over a WebSocket it means PCM16
	PCM16 Format = "pcm16" // samples of 16 bits, little-endian, no container
	Opus  Format = "opus"  // Ogg/Opus at 48 kbit/s
)

// Request is what to say and how. Only Text is required; the defaults of the rest are the server's.
type Request struct {
	Text   string // at most 4000 code points; Devanagari and Latin, mixed freely
	Voice  string // "" means anjura
	Format Format // "" means WAV over HTTP and PCM16 over a WebSocket

	// Buffered asks for the whole audio at once: a WAV then states its true length, and a failure is an error before
	// any audio. A WebSocket ignores it.
	Buffered bool

	// Metadata asks for a WAV with the source of the audio in a LIST chunk before the samples, which then begin after
	// more than 44 bytes. A WebSocket ignores it; Ogg/Opus always has it.
	Metadata bool

	// WordTimes asks a WebSocket for a [WordsEvent] with each chunk. [Client.SpeakWords] has them anyway, and
	// [Client.Speak] never.
	WordTimes bool

	SSML        bool     // Text is a document of SSML; the server refuses elements that it does not know
	Raw         bool     // Text is already what is spoken: do not normalise
	EnDigits    bool     // read codes with English digit names
	Lexicon     string   // "none": not that of the project; "" and its id mean that
	Temperature *float64 // 0 to 2; nil means 0.3. Lower is more stable
	Seed        *int64   // same request, same seed: same audio; nil means random
	RequestID   string   // 1 to 128 visible ASCII characters; "" means that one is made up. Not an idempotency key
}

// MarshalJSON writes the body of POST /v1/tts, which is also the message of a WebSocket.
func (r Request) MarshalJSON() ([]byte, error) { return r.message("") }

// message writes a message of that type; "" means speak.
func (r Request) message(typ string) ([]byte, error) {
	w := struct {
		Type        string   `json:"type,omitempty"`
		RequestID   string   `json:"request_id,omitempty"`
		Text        string   `json:"text"`
		Voice       string   `json:"voice,omitempty"`
		Format      Format   `json:"format,omitempty"`
		Stream      *bool    `json:"stream,omitempty"`
		Metadata    bool     `json:"metadata,omitempty"`
		InputType   string   `json:"input_type,omitempty"`
		Raw         bool     `json:"raw,omitempty"`
		EnDigits    bool     `json:"en_digits,omitempty"`
		Lexicon     string   `json:"lexicon,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
		Seed        *int64   `json:"seed,omitempty"`
		Timestamps  string   `json:"timestamps,omitempty"`
	}{typ, r.RequestID, r.Text, r.Voice, r.Format, nil, r.Metadata, "", r.Raw, r.EnDigits, r.Lexicon, r.Temperature,
		r.Seed, ""}
	if r.SSML {
		w.InputType = "ssml"
	}
	if r.WordTimes {
		w.Timestamps = "words"
	}
	if r.Buffered {
		w.Stream = new(false)
	}
	return json.Marshal(w)
}

// Audio is the audio of one utterance, read as it is produced. It is not safe for concurrent use.
type Audio struct {
	RequestID string
	// audio/wav, audio/ogg or audio/L16;rate=24000;channels=1 (the latter little-endian, whatever its RFC says)
	ContentType string
	Voice       string
	Model       string
	Seed        int64         // speaks the same again
	Queue       time.Duration // spent waiting for a worker
	Unspoken    string        // characters that the model cannot speak, left out; each once, the first 28 or more

	resp *http.Response
	hash hash.Hash
	read int64
	err  error // what Read returns from then on
}

// Proof is what the server says about audio that it has sent in full.
type Proof struct {
	Frames int           // of 80 ms
	Length time.Duration // how long it sounds
	Wall   time.Duration // how long the server took
	RTF    float64       // synthesis time per second of audio
	SHA256 string        // of all bytes, in hexadecimal
}

// Speak says r and returns when the first 80 ms are there. The caller reads the Audio, and closes it in any case;
// closing early makes the server stop within one frame. Ending ctx does the same, until the last byte is read.
//
// A request that is refused, or fails before its first frame, is an [Error].
func (c *Client) Speak(ctx context.Context, r Request) (*Audio, error) {
	if err := checkText(r.Text); err != nil {
		return nil, err
	}
	resp, err := c.call(ctx, http.MethodPost, "/v1/tts", r) //nolint:bodyclose // Audio.Close does
	if err != nil {
		return nil, err
	}
	h := resp.Header
	a := &Audio{
		RequestID:   h.Get("X-Request-Id"),
		ContentType: h.Get("Content-Type"),
		Voice:       h.Get("X-Voice"),
		Model:       h.Get("X-Model"),
		resp:        resp,
		hash:        sha256.New(),
	}
	a.Seed, _ = strconv.ParseInt(h.Get("X-Seed"), 10, 64)
	queue, _ := strconv.ParseFloat(h.Get("X-Queue-Ms"), 64)
	a.Queue = millis(queue)
	a.Unspoken, _ = url.QueryUnescape(h.Get("X-Unspoken"))
	return a, nil
}

// checkText refuses what encoding/json would silently change.
func checkText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return &Error{Status: http.StatusBadRequest, Code: CodeBadText, Text: "text: not valid UTF-8"}
}

// Read reads audio. It returns io.EOF only after all of it: audio that stops early, or differs from what the server
// sent, ends with a [CutError]. Complete is what HTTP says is complete (RFC 9112, section 8): many proxies announce
// the trailers of a stream and drop them, so that missing trailers prove nothing. Trailers that arrive must agree
// with the audio; see [Audio.Proof].
//
// Read promptly: a server cancels a stream whose reader takes no data for ten seconds. A consumer at the pace of
// speech, such as a player, should read from [Audio.ReadAhead].
func (a *Audio) Read(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.resp.Body.Read(p)
	a.hash.Write(p[:n])
	a.read += int64(n)
	if err != nil {
		a.err = a.end(err)
		err = a.err
	}
	return n, err
}

// end judges how the body ended.
func (a *Audio) end(err error) error {
	proof, proven := a.proof()
	switch {
	case err != io.EOF:
		if ctx := a.resp.Request.Context(); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &CutError{a.RequestID, a.read, err}
	case proven && proof.SHA256 != hex.EncodeToString(a.hash.Sum(nil)):
		return &CutError{a.RequestID, a.read, errChecksum}
	}
	return io.EOF
}

var (
	errChecksum = errors.New("the checksum does not match")
	errClosed   = errors.New("client: audio is closed")
)

// Proof returns what the server says about the whole of the audio, once Read has returned io.EOF. It is false before
// that, and when a proxy on the way drops the trailers.
func (a *Audio) Proof() (Proof, bool) {
	if a.err != io.EOF {
		return Proof{}, false
	}
	return a.proof()
}

// proof reads the trailers of a stream, or the headers of a buffered answer.
func (a *Audio) proof() (Proof, bool) {
	h := a.resp.Trailer
	if h.Get("X-Audio-Sha256") == "" {
		h = a.resp.Header
	}
	p := Proof{SHA256: h.Get("X-Audio-Sha256")}
	p.Frames, _ = strconv.Atoi(h.Get("X-Frames"))
	p.Length = time.Duration(p.Frames) * FrameDuration
	wall, _ := strconv.ParseFloat(h.Get("X-Wall-Ms"), 64)
	p.Wall = millis(wall)
	p.RTF, _ = strconv.ParseFloat(h.Get("X-Rtf"), 64)
	return p, p.SHA256 != ""
}

// Close ends the request. Closing twice is allowed.
func (a *Audio) Close() error {
	if a.err == nil {
		a.err = errClosed
	}
	return a.resp.Body.Close()
}

// ReadAhead returns a reader that buffers the rest of a in memory until it is read. It reads as fast as audio arrives
// and keeps up to 64 MiB (23 minutes). Use it instead of a, not beside it; closing it closes a.
func (a *Audio) ReadAhead() io.ReadCloser {
	r := &ahead{audio: a, inbox: newInbox()}
	r.reading.Go(r.fill)
	return r
}
