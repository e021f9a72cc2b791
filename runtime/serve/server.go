// Package serve is the HTTP and WebSocket adapter of the API over any [speech.Speaker].
package serve

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// Config configures a server.
type Config struct {
	Speaker    speech.Speaker  // required
	Keys       access.Keyring  // nil: open to all clients, which only cmd decides
	Meter      *meter.Recorder // nil: usage is not billed
	Metrics    *metrics.API    // required
	Log        *slog.Logger    // required
	Ready      func() error    // why no new work should be sent here although the workers are warm; nil: nothing
	Service    string          // name in GET / and in the metadata of audio; "" means "Swar Hinglish TTS"
	Version    string          // build version in /healthz
	MaxSockets int             // WebSocket connections on this node; 0 means 10,000
	Spool      int64           // bytes of audio that may wait for clients; 0 means 256 MiB, less than 0 none

	// Disclosure is spoken before every text, unless the key says otherwise; empty for nothing. With DisclosureRequired
	// a key may have other words spoken, but not none.
	Disclosure         string
	DisclosureRequired bool

	// Lexicon is the lexicon of keys without a project, and of requests without a key; nil: none.
	Lexicon *lexicon.Lexicon

	// Dialects are the APIs of other vendors that are served beside the native one, and Encoders writes the audio that
	// the native API has no format for. Without encoders such audio is refused.
	Dialects []*dialect.Dialect
	Encoders dialect.Encoders

	// Samples returns what a voice sounds like, as WAV, and whether that is known by now. Nil: it never is.
	Samples func(voice string) (audio []byte, ok bool)

	// TrustProxies are the networks of the reverse proxies before this server, whose X-Forwarded-For is trusted.
	// Without any, a client's address is that of its connection.
	TrustProxies []netip.Prefix
}

// Server answers the synthesis API. It is safe for concurrent use.
//
// It sets the deadlines of bodies and answers itself, since a stream outlasts any that fits a refusal. The
// [http.Server] around it needs only a ReadHeaderTimeout and an IdleTimeout, and serves a listener of [WrapListener].
type Server struct {
	cfg     Config
	started time.Time
	handler http.Handler

	budget    *spoolBudget
	listening atomic.Int64        // clients that are being spoken to, or have not taken all of it
	answers   registry[*delivery] // of POST /v1/tts and /v1/tts/words, being spoken or taken

	draining  chan struct{} // closed by Drain
	drainOnce sync.Once
	sockets   sockets
}

// New checks cfg and returns a server; it starts nothing.
func New(cfg Config) (*Server, error) {
	if cfg.Speaker == nil || cfg.Metrics == nil || cfg.Log == nil {
		return nil, errors.New("serve: Speaker, Metrics and Log are required")
	}
	if cfg.DisclosureRequired && cfg.Disclosure == "" {
		return nil, errors.New("serve: DisclosureRequired needs a Disclosure")
	}
	if cfg.Service == "" {
		cfg.Service = "Swar Hinglish TTS"
	}
	if cfg.Ready == nil {
		cfg.Ready = func() error { return nil }
	}
	if cfg.Samples == nil {
		cfg.Samples = func(string) ([]byte, bool) { return nil, false }
	}
	if cfg.MaxSockets == 0 {
		cfg.MaxSockets = 10_000
	}
	if cfg.Spool == 0 {
		cfg.Spool = defaultSpool
	}
	if cfg.Encoders == nil {
		cfg.Encoders = noEncoders{}
	}
	for _, d := range cfg.Dialects {
		cfg.Metrics.Expect(metrics.Endpoint(d.Name))
	}
	s := &Server{cfg: cfg, started: time.Now(), budget: newSpoolBudget(cfg.Spool), draining: make(chan struct{})}
	cfg.Metrics.RegisterDelivery(s.deliveryCounts)
	s.handler = s.common(s.routes())
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Listeners returns how many clients are being spoken to, or have not taken all of it. A socket is one.
func (s *Server) Listeners() int { return int(s.listening.Load()) }

func (s *Server) deliveryCounts() metrics.DeliveryCounts {
	use := s.budget.use()
	return metrics.DeliveryCounts{
		Listeners: s.listening.Load(), SpoolBytes: use.bytes, SpoolLimit: use.limit, SpoolWaits: use.waits,
	}
}
