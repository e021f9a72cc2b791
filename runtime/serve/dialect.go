package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/mux"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

const voicesPath = "/v1/voices" // of the native API, and of others

// addDialects adds the paths of the dialects that the native API does not have.
func (s *Server) addDialects(p *paths) {
	for _, d := range s.cfg.Dialects {
		for _, r := range d.Routes {
			if of := p.find(r.Path); of != nil && of.template == r.Path && slices.Contains(of.methods, r.Method) {
				of.isVendor = true
				continue // picked there
			}
			own := s.handleAs(func(http.ResponseWriter, *http.Request) error { return errNotFound }, refuseAs(d.Name))
			if other, route := s.unconditional(r.Method, r.Path); route != nil {
				own = s.handleAs(s.dialectHandler(other, *route), refuseAs(other.Name))
			}
			methods := []string{r.Method}
			if r.Method == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
			p.add(r.Path, refuseAs(d.Name), s.picked(r.Method, r.Path, own), methods...)
			p.find(r.Path).isVendor = true
		}
	}
}

// unconditional returns the route that answers what no other route of the path picks, if there is one.
func (s *Server) unconditional(method, path string) (*dialect.Dialect, *dialect.Route) {
	for _, d := range s.cfg.Dialects {
		for i := range d.Routes {
			if r := &d.Routes[i]; r.Method == method && r.Path == path && r.When == nil {
				return d, r
			}
		}
	}
	return nil, nil
}

// picked answers with the route of the first dialect that picks a request, and with own what none picks.
func (s *Server) picked(method, path string, own http.Handler) http.Handler {
	type choice struct {
		when func(func(string) string) bool
		h    http.Handler
	}
	var choices []choice
	for _, d := range s.cfg.Dialects {
		for _, r := range d.Routes {
			if r.Method == method && r.Path == path && r.When != nil {
				choices = append(choices, choice{r.When, s.handleAs(s.dialectHandler(d, r), refuseAs(d.Name))})
			}
		}
	}
	if len(choices) == 0 {
		return own
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, c := range choices {
			if c.when(r.Header.Get) {
				c.h.ServeHTTP(w, r)
				return
			}
		}
		own.ServeHTTP(w, r)
	})
}

// refuseAs answers with an error in the shape of a dialect.
func refuseAs(name dialect.Name) func(http.ResponseWriter, error) {
	return func(w http.ResponseWriter, err error) {
		said := failureOf(err).answer()
		said.Status, said.Body = name.FaultBody(faultOf(err, w.Header().Get("X-Request-Id")))
		if said.Status == http.StatusTooManyRequests {
			said.Retry = time.Second
		}
		answer.Refuse(w, said)
	}
}

func faultOf(err error, requestID string) dialect.Fault {
	f := failureOf(err)
	fault := dialect.Fault{Code: f.code, Text: f.text, Status: f.status, RequestID: requestID}
	if of, ok := errors.AsType[*dialect.FieldError](err); ok {
		fault.Field = of.Field
	} else if of, ok := errors.AsType[*dialect.NotFoundError](err); ok {
		fault.Field = of.Field
	}
	return fault
}

// dialectHandler answers a route of a dialect.
func (s *Server) dialectHandler(d *dialect.Dialect, r dialect.Route) handler {
	if r.Socket != nil {
		return s.dialectSocket(d, r)
	}
	h := func(w http.ResponseWriter, q *http.Request, grant access.Grant, _ *outcome) error {
		list, err := r.List(s.call(w, q, grant, nil))
		if err != nil {
			return err
		}
		answer.JSON(w, http.StatusOK, list)
		return nil
	}
	if r.Speech != nil {
		h = s.ordered(d, r.Speech)
	}
	credentials := func(r *http.Request) access.Credentials {
		creds, _ := s.anyCredentials(r)
		return creds
	}
	return s.keyedBy(metrics.Endpoint(d.Name), credentials, h)
}

func (s *Server) call(w http.ResponseWriter, r *http.Request, grant access.Grant, body []byte) dialect.Call {
	return dialect.Call{
		RequestID: w.Header().Get("X-Request-Id"), Body: body,
		Var:   func(name string) string { return mux.Vars(r)[name] },
		Query: r.URL.Query(), Header: r.Header.Get, Host: r.Host, Target: r.RequestURI, Model: s.cfg.Speaker.Model(),
		Allows: grant.Allows, Encodes: s.cfg.Encoders.Encodes,
	}
}

// ordered speaks what read makes of a request.
func (s *Server) ordered(d *dialect.Dialect, read func(dialect.Call) (dialect.Order, error)) keyedHandler {
	return func(w http.ResponseWriter, r *http.Request, grant access.Grant, o *outcome) error {
		limit := time.Now().Add(speech.UtteranceTimeout) // end to end, so the body's time counts
		ctx, ended := withClientGone(r.Context())
		defer ended()
		ctx, cancel := context.WithDeadlineCause(ctx, limit, speech.ErrTimeout)
		defer cancel()
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		turn := speech.Turn{QueuedSince: time.Now()}
		order, err := read(s.call(w, r, grant, body))
		for name, value := range order.Headers {
			w.Header().Set(name, value)
		}
		if err != nil {
			return err
		}
		u := order.Utterance
		if u.Lexicon, err = lexiconFor(grant, order.Lexicon); err != nil {
			return err
		}
		if !grant.Allows(u.Voice) {
			return speech.VoiceNotAllowed(u.Voice)
		}
		u.RequestID, u.Disclosure, u.Service = w.Header().Get("X-Request-Id"), s.disclosureFor(grant), s.cfg.Service
		if !order.HasSeed {
			u.Seed = newSeed()
		}
		o.voice, o.format = u.Voice, speech.Format(order.Word)
		answered := s.newDelivery(w, r, limit, order.Audio.ContentType)
		answered.speaker = parts{s.cfg.Speaker}
		u.Format = answered.encode(order.Audio, u)
		answered.setLengths = order.Buffered && order.Audio.Container == dialect.WAV
		sink := speech.Sink(&answered.sink)
		if order.Framing != nil {
			sink = answered.frame(d.Name, order, u)
		}
		billed := u
		billed.Format = o.format
		answered.meter = s.cfg.Meter.Begin(grant, string(o.endpoint), billed, sink)
		o.stats, err = answered.run(ctx, u, turn, order.Buffered)
		o.chars = o.stats.Chars
		if err != nil {
			s.setConcurrency(w.Header())
		}
		return err
	}
}
