package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/fleet/route"
)

// parse reads a command line as the program does.
func parse(t *testing.T, args ...string) (*options, error) {
	t.Helper()
	var o options
	cmd := &cobra.Command{Use: name}
	cmd.SetContext(t.Context())
	o.define(cmd)
	err := cmd.ParseFlags(append([]string{"--endpoints=127.0.0.1:9090", "--token-file=t", "--open", "--watch="},
		args...))
	if err == nil {
		err = o.check(cmd)
	}
	return &o, err
}

func TestHowLongASlotIsWaitedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		args    []string
		want    time.Duration
		refused bool
	}{
		"the default is that of routing":   {nil, route.DefaultQueueWait, false},
		"less than the least":              {[]string{"--queue-wait=999us"}, 0, true},
		"the least":                        {[]string{"--queue-wait=1ms"}, 500 * time.Microsecond, false},
		"as long as a refusal takes twice": {[]string{"--queue-wait=100ms"}, 50 * time.Millisecond, false},
		"a millisecond more":               {[]string{"--queue-wait=101ms"}, 51 * time.Millisecond, false},
		"the most":                         {[]string{"--queue-wait=10s"}, 9950 * time.Millisecond, false},
		"more than the most":               {[]string{"--queue-wait=10001ms"}, 0, true},
	} {
		o, err := parse(t, tt.args...)
		_, usage := errors.AsType[*launch.UsageError](err)
		if usage != tt.refused || err == nil && o.slotWait() != tt.want {
			t.Errorf("%s: %v, %v, want %v", name, o.slotWait(), err, tt.want)
		}
	}
}

func TestWhichPodIsPreferred(t *testing.T) {
	for name, tt := range map[string]struct {
		args   []string
		random bool
		says   string // empty: they are good
	}{
		"the default":                      {nil, false, ""},
		"prefill":                          {[]string{"--affinity=prefill"}, false, ""},
		"none":                             {[]string{"--affinity=none"}, true, ""},
		"a word that is written otherwise": {[]string{"--affinity=None"}, false, "want one of prefill, none"},
	} {
		o, err := parse(t, tt.args...)
		if tt.says != "" {
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want it to say %q", name, err, tt.says)
			}
			continue
		}
		if err != nil || o.routing(1).AtRandom != tt.random {
			t.Errorf("%s: at random %v, %v", name, o.routing(1).AtRandom, err)
		}
	}
}

func TestATokenForThePortalNeedsOne(t *testing.T) {
	if _, err := parse(t, "--portal-token-file=t"); err == nil || !strings.Contains(err.Error(), "--portal-addr") {
		t.Errorf("a token for no portal: %v, want it refused", err)
	}
}
