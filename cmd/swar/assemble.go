package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/portal/web"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/sample"
	"github.com/swar-tts/swar/runtime/serve"
)

// assemble builds everything and starts nothing. When it fails, nothing of it is left open.
func (s *site) assemble(ctx context.Context) (err error) {
	o := s.options
	lines := launch.NewLogWriter(s.app.Err)
	if s.log, err = o.logging.Open(lines, s.app.Err.Terminal); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	m := metrics.New()
	m.RegisterLog(lines.Dropped)
	m.RegisterConnections(s.servers.Closed)
	if err := s.openSpeaker(ctx, m); err != nil {
		return err
	}
	keys, err := s.openKeys(ctx)
	if err != nil {
		return err
	}
	config := s.apiConfig(keys, m)
	if s.api, err = serve.New(config); err != nil {
		return err
	}
	handler, err := s.handler(ctx, m)
	if err != nil {
		return err
	}
	s.http = launch.NewServer(handler, s.log)
	if s.wyoming, err = s.openWyoming(ctx, config.Metrics); err != nil {
		return err
	}
	return s.listenSeparate(ctx, m)
}

// release closes what assemble has opened and nothing has started.
func (s *site) release() error {
	s.servers.Close()
	s.wyoming.close()
	var speaker, portal error
	if s.speaker != nil {
		speaker = s.speaker.Close()
	}
	if s.portal != nil {
		portal = s.portal.Close()
	}
	return errors.Join(speaker, portal)
}

func (s *site) openSpeaker(ctx context.Context, m *metrics.Registry) (err error) {
	o, limit := s.options, launch.FindMemory()
	c := pool.Config{Workers: o.workers.Count(), QueueLen: launch.OrNone(o.queue)}
	if s.speaker, err = o.engine.OpenSpeaker(ctx, c, limit, s.log); err != nil {
		return err
	}
	s.speaker.WarnOfSpool(*o.spool, limit, s.log)
	s.speaker.Register(m)
	return o.label.CheckSpeaker(ctx, serveCommand, s.speaker)
}

// openKeys opens the portal, unless it is off, and returns the keyring of the server: nil means open access.
func (s *site) openKeys(ctx context.Context) (ring access.Keyring, err error) {
	o := s.options
	var static *access.Static
	if len(o.keys) > 0 {
		if static, err = access.NewStatic(o.keys, s.voices()); err != nil {
			return nil, &launch.UsageError{Command: serveCommand, Err: err}
		}
	}
	switch {
	case o.withPortal():
		c := portal.Config{Store: o.store, SignIn: o.signIn, Model: s.speaker.Model, Log: s.log}
		if s.portal, err = portal.OpenLocal(ctx, c); err != nil {
			return nil, err
		}
		if static != nil {
			s.log.Warn("the keys of --api-key work beside those of the portal and are not billed",
				"keys", len(o.keys))
		}
		return s.portal.Keyring(static), nil
	case static != nil:
		return static, nil
	}
	s.log.Warn("open server: everyone who can connect may use it; --api-key restricts it", "listen", o.listen)
	return nil, nil
}

func (s *site) apiConfig(keys access.Keyring, m *metrics.Registry) serve.Config {
	c := serve.Config{
		Speaker: s.speaker, Metrics: m.RegisterAPI(metrics.StreamsOf(s.speaker.Capacity)),
		Log: s.log, Version: thisBuild().Version, TrustProxies: s.options.proxies.Trusted(),
		Spool: launch.OrNone(*s.options.spool),
	}
	s.options.label.Apply(&c)
	c.Lexicon = s.options.lexicon.Lexicon(s.log)
	s.options.dialects.Apply(&c)
	s.samples = s.newSamples(c.Disclosure)
	c.Samples = s.samples.WAV
	if keys != nil {
		c.Keys = access.NewGuard(keys)
	}
	if s.portal != nil {
		c.Meter, c.Ready = s.portal.Recorder(), s.portal.Keys().Check
	}
	return c
}

// newSamples are kept beside the portal's records, and in memory alone where there is no portal.
func (s *site) newSamples(disclosure string) *sample.Samples {
	c := sample.Config{Identity: s.options.engine.Identity(), Disclosure: disclosure, Content: s.speaker.VoiceID}
	if s.portal != nil {
		c.Folder = filepath.Join(s.options.store.Data, "samples")
	}
	return sample.New(c, s.speaker, s.log)
}

// handler answers for the API and the portal beside it.
func (s *site) handler(ctx context.Context, m *metrics.Registry) (http.Handler, error) {
	ways := portal.Off()
	if s.portal != nil {
		s.portal.Register(m)
		var err error
		ways, err = s.portal.Handler(ctx, portal.Site{
			Address: s.address, ClientIP: s.api.ClientIP, Mails: s.secrets(), Metrics: m, Version: thisBuild().Version,
			Voices: portal.Voices{Bundle: s.options.engine.Folder(), Read: s.readVoices}, Pages: web.Built() != nil,
		})
		if err != nil {
			return nil, err
		}
	}
	h, err := web.Wrap(ways.Wrap(s.api), web.Program{
		Voices: s.voices, Portal: s.portal != nil, Keys: s.portal != nil || len(s.options.keys) > 0,
		Connect: ways.Origins, Public: cmp.Or(ways.PublicURL(), launch.URLOf(s.address)),
	})
	if err != nil {
		return nil, err
	}
	if s.options.metrics != "" {
		h = launch.Hide("/metrics", h)
	}
	return h, nil
}

// listenSeparate opens the addresses where metrics and profiles are, apart from the API.
func (s *site) listenSeparate(ctx context.Context, m *metrics.Registry) error {
	open := func(flag, address string, h http.Handler) error {
		if address == "" {
			return nil
		}
		l, err := launch.Listen(ctx, serveCommand, flag, address)
		if err == nil {
			s.servers.Add(launch.NewServer(h, s.log), l)
		}
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	if err := open("--metrics-listen", s.options.metrics, mux); err != nil {
		return err
	}
	return open("--pprof", s.options.pprof, launch.Profiles())
}

// readVoices reloads the voices of the bundle.
func (s *site) readVoices(ctx context.Context) (portal.VoiceChange, error) {
	c, err := s.speaker.ReadVoices(ctx)
	change := portal.VoiceChange{Added: c.Added, Replaced: c.Replaced, Removed: c.Removed}
	change.Voices = s.voices()
	return change, err
}

// voices returns the names of the voices that the server offers now.
func (s *site) voices() (names []string) {
	for _, v := range s.speaker.Model().Voices {
		names = append(names, v.Name)
	}
	return names
}
