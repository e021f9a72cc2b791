package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func TestTheHeaderNamesWhatHasRoom(t *testing.T) {
	const han = "一二三四五六七八九十百千万亿零壹贰叁肆伍陆柒捌玖拾佰仟萬" // 28 characters of 9 bytes: 252
	for name, tt := range map[string]struct{ unspoken, want string }{
		"nothing":                           {"", ""},
		"one character":                     {"你", "你"},
		"signs that mean something in URLs": {"%+&=/?#", "%+&=/?#"},
		"control characters":                {"\r\n\x7f\u0085", "\r\n\x7f\u0085"},
		"255 bytes":                         {han + "abc", han + "abc"},
		"256 bytes":                         {han + "abcd", han + "abcd"},
		"257 bytes":                         {han + "abcde", han + "abcd"},
		"a character that is cut off whole": {han + "你", han},
		"nothing behind the cut":            {han + "你a", han},
		"a thousand characters":             {strings.Repeat(han, 40), han},
	} {
		h := http.Header{}
		setUnspoken(h, tt.unspoken)
		value := h.Get("X-Unspoken")
		got, err := url.PathUnescape(value)
		if err != nil || got != tt.want || len(value) > 256 {
			t.Errorf("%s: %d bytes that mean %q, %v; want %q", name, len(value), got, err, tt.want)
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Errorf("%s: %q is no value of a header", name, value)
		}
		if _, set := h["X-Unspoken"]; set != (tt.want != "") {
			t.Errorf("%s: the header is set: %v", name, set)
		}
	}
}

func TestWhatIsNotSpokenIsTold(t *testing.T) {
	l := newWarmLocal(t, 1, synthtest.Config{})
	g := newRig(t, l)
	const part, whole = `{"text":"Namaste 你好, dosto!","format":"pcm16"`, `{"text":"Namaste, dosto!","format":"pcm16"`
	for _, rest := range []string{`}`, `,"stream":false}`} {
		got := g.speak(part + rest)
		wantHeaders(t, got.Header, map[string]string{"X-Unspoken": "%E4%BD%A0%E5%A5%BD"})
		if text, _ := heard(t, got.body); text != "Namaste, dosto!" {
			t.Errorf("heard %q", text)
		}
		wantHeaders(t, g.speak(whole+rest).Header, map[string]string{"X-Unspoken": ""})
	}
	preview := g.do(http.MethodPost, "/v1/normalize", `{"text":"Namaste 你好, dosto!"}`)
	wantJSON(t, preview, 200, `{"normalized":"Namaste, dosto!","unspoken":"你好",
		"chars":15,"chunks":[{"text":"Namaste, dosto!","tokens":4,"char_start":0,"char_end":15}],"input_chars":18,"spans":[]}`)
	wantJSON(t, g.do(http.MethodPost, "/v1/normalize", `{"text":"你好"}`), 200,
		`{"normalized":"","unspoken":"你好","chars":0,"chunks":[],"input_chars":2,"spans":[]}`)

	s := newWSRig(t, l).connect()
	defer s.leave()
	s.send(part + `}`)
	if start := s.until("end")[0].event; start["unspoken"] != "你好" || start["normalized"] != "Namaste, dosto!" {
		t.Errorf("start = %v", start)
	}
	s.send(whole + `}`)
	if start := s.until("end")[0].event; start["unspoken"] != nil {
		t.Errorf("start = %v, want no field unspoken", start)
	}
}

// TestNothingToSayComesBeforeCapacity: no worker is ever warm here.
func TestNothingToSayComesBeforeCapacity(t *testing.T) {
	l, stop := newLocal(t, 1, synthtest.Config{OnNewWorker: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}})
	defer stop()
	g := newRig(t, l)
	s := newWSRig(t, l).connect()
	defer s.leave()
	for _, text := range []string{"你好", "مرحبا", "สวัสดี", "Привет", "Γειά", "안녕", "こんにちは", "שלום", "...", "你好, 😀!"} {
		for _, raw := range []bool{false, true} {
			body := fmt.Sprintf(`{"text":%q,"raw":%v}`, text, raw)
			g.speak(body).wantError(t, 400, "nothing to say after normalisation", "nothing_to_say")
			s.send(body)
			if e := s.next().event; e["type"] != "error" || e["status"] != 400.0 || e["code"] != "nothing_to_say" {
				t.Errorf("%s: %v", body, e)
			}
		}
	}
	g.speak(`{"text":"你好 a"}`).wantError(t, 503, "workers warming up", "warming_up")
}
