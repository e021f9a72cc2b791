package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/swar-tts/swar/client"
)

// TestCasesOfTheSDKs: the Go client does what the clients in sdk do; sdk/cases.json is the table of all.
func TestCasesOfTheSDKs(t *testing.T) {
	text, err := os.ReadFile("../../sdk/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name    string
		Key     *string
		Request struct {
			Text, Voice string
			Format      client.Format
			Repeat      int
			Seed        *int64
			Temperature *float64
		}
		Seconds [2]float64
		Error   *struct {
			Status int
			Code   client.Code
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	base := newShell(t).serve("--workers", "1", "--api-key", "good", "--api-key", "only-raj=raj").base
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			key := "good"
			if c.Key != nil {
				key = *c.Key
			}
			swar, err := client.New(base, client.Options{Key: key})
			if err != nil {
				t.Fatal(err)
			}
			r := client.Request{
				Text: strings.Repeat(c.Request.Text, max(c.Request.Repeat, 1)), Voice: c.Request.Voice,
				Format: c.Request.Format,
				Seed:   c.Request.Seed, Temperature: c.Request.Temperature,
			}
			audio, err := swar.Speak(t.Context(), r)
			if c.Error != nil {
				if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != c.Error.Status ||
					e.Code != c.Error.Code {
					t.Errorf("%v, want status %d and %s", err, c.Error.Status, c.Error.Code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer audio.Close()
			b, err := io.ReadAll(audio)
			if s := float64(len(b)) / (2 * client.SampleRate); err != nil || s < c.Seconds[0] || s > c.Seconds[1] {
				t.Errorf("%.2f s, %v, want %v", s, err, c.Seconds)
			}
		})
	}
}
