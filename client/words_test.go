package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

const (
	startLine = `{"type":"start","request_id":"r1","format":"wav","chunks":1,"normalized":"n","timestamps":"words"}` +
		"\n"
	audioLine = `{"type":"audio","request_id":"r1","chunk":0,"frames":1,"audio":"UklGRg=="}` + "\n"
	wordsLine = `{"type":"words","request_id":"r1","chunk":0,"estimated":true,` +
		`"words":[{"word":"हाँ","char_start":0,"char_end":3,"start_s":0.01,"end_s":0.5}]}` + "\n"
	endLine = `{"type":"end","request_id":"r1","frames":1,"audio_s":0.08}` + "\n"
)

func TestSpeakWordsTellsACompleteAnswerFromACutOne(t *testing.T) {
	all := []string{startLine, audioLine, wordsLine, endLine}
	for name, tt := range map[string]struct {
		lines  []string
		abort  bool
		events int
		text   string // of the error
	}{
		"complete":                  {all, false, 4, ""},
		"what comes after is left":  {append(all[:4:4], "?"), false, 4, ""},
		"no end":                    {all[:3], false, 3, "audio was cut after 4 bytes (request r1): the end event is missing"},
		"aborted":                   {all[:3], true, 3, "audio was cut after 4 bytes (request r1): unexpected EOF"},
		"cut within a line":         {[]string{startLine, audioLine[:20]}, true, 1, "audio was cut after 0 bytes (request r1): unexpected EOF"},
		"nothing at all":            {nil, false, 0, "audio was cut after 0 bytes (request r1): the end event is missing"},
		"a line that is not JSON":   {[]string{"<html>\n"}, false, 0, "reading an event: invalid character '<' looking for beginning of value"},
		"a line one byte too long":  {[]string{strings.Repeat(" ", maxLine) + "\n"}, false, 0, "audio was cut after 0 bytes (request r1): bufio: buffer full"},
		"an event of tomorrow, too": {[]string{startLine, `{"type":"visemes"}` + "\n", endLine}, false, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
				if got, want := r.Method+" "+r.URL.Path, "POST /v1/tts/words"; got != want {
					t.Errorf("called %s, want %s", got, want)
				}
				body, _ := io.ReadAll(r.Body)
				if got, want := string(body), `{"text":"a","voice":"raj"}`; got != want {
					t.Errorf("sent %s, want %s", got, want)
				}
				w.Header().Set("X-Request-Id", "r1")
				for _, l := range tt.lines {
					io.WriteString(w, l)
				}
				if tt.abort {
					http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
			})
			events, text := 0, ""
			request := Request{Text: "a", Voice: "raj", Buffered: true, Metadata: true, WordTimes: true}
			for e, err := range c.SpeakWords(t.Context(), request) {
				if err != nil {
					text = err.Error()
					continue
				}
				if events++; e.About().JSON == nil {
					t.Errorf("%+v has no JSON", e)
				}
			}
			if events != tt.events || text != tt.text {
				t.Errorf("%d events and %q, want %d and %q", events, text, tt.events, tt.text)
			}
		})
	}
}

func TestSpeakWordsYieldsAudioAndWords(t *testing.T) {
	c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, startLine+audioLine+wordsLine+endLine)
	})
	var got []Event
	for e, err := range c.SpeakWords(t.Context(), Request{Text: "a"}) {
		if err != nil {
			t.Fatal(err)
		}
		reflect.ValueOf(e).Elem().FieldByName("Head").SetZero()
		got = append(got, e)
	}
	want := []Event{
		&StartEvent{Format: WAV, Chunks: 1, Normalized: "n", WordTimes: true},
		&AudioEvent{Data: []byte("RIFF")},
		&WordsEvent{Words: []Word{{"हाँ", 0, 3, 10 * time.Millisecond, 500 * time.Millisecond}}, Estimated: true},
		&EndEvent{Frames: 1, Length: 80 * time.Millisecond},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSpeakWordsEndsEarly(t *testing.T) {
	left := make(chan struct{}, 2)
	c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		io.WriteString(w, startLine)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		left <- struct{}{}
	})
	for range c.SpeakWords(t.Context(), Request{Text: "a"}) {
		break
	}
	<-left
	why := errors.New("the user has left")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for _, err := range c.SpeakWords(ctx, Request{Text: "a"}) {
		cancel(why)
		if err != nil && !errors.Is(err, why) {
			t.Errorf("error = %v, want the cause of the context", err)
		}
	}
	<-left
}

func TestSpeakWordsRefuses(t *testing.T) {
	c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Error-Code", "busy")
		http.Error(w, `{"error":"busy"}`, http.StatusServiceUnavailable)
	})
	for text, want := range map[string]Code{"a": CodeBusy, "\xff": CodeBadText} {
		for e, err := range c.SpeakWords(t.Context(), Request{Text: text}) {
			if refusal, ok := errors.AsType[*Error](err); !ok || refusal.Code != want || e != nil {
				t.Errorf("%q: %v, %v; want %s", text, e, err, want)
			}
		}
	}
}
