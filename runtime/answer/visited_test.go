package answer_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/swar-tts/swar/runtime/answer"
)

func TestVisitedURL(t *testing.T) {
	for _, tt := range []struct{ public, host, proto, want string }{
		{"https://tts.example.org", "10.0.0.1:8080", "", "https://tts.example.org"},
		{"http://192.168.1.5:8080", "tts.lan:8080", "", "http://192.168.1.5:8080"},
		{"http://127.0.0.1:8080", "tts.lan:8080", "", "http://tts.lan:8080"},
		{"http://127.0.0.1:8080", "192.168.1.5:8080", "", "http://192.168.1.5:8080"},
		{"http://127.0.0.1:8080", "[2001:db8::5]:8080", "", "http://[2001:db8::5]:8080"},
		{"http://127.0.0.1:8080", "[2001:db8::5]", "", "http://[2001:db8::5]"},
		{"http://127.0.0.1:8080", "tts.example.org", "https", "https://tts.example.org"},
		{"http://127.0.0.1:8080", "localhost:8080", "", "http://127.0.0.1:8080"},
		{"http://127.0.0.1:8080", "[::1]:8080", "", "http://127.0.0.1:8080"},
		{"", "127.0.0.1:18080", "", "http://127.0.0.1:18080"},
		{"http://127.0.0.1:8080", "", "", "http://127.0.0.1:8080"},
		{"http://127.0.0.1:8080", "evil'; rm -rf /", "", "http://127.0.0.1:8080"},
		{"http://127.0.0.1:8080", "a<b>:80", "", "http://127.0.0.1:8080"},
		{"http://127.0.0.1:8080", "tts.lan:99999", "", "http://127.0.0.1:8080"},
		{"http://127.0.0.1:8080", "[tts.lan]:80", "", "http://127.0.0.1:8080"},
		{"http://127.0.0.1:8080", "fe80::1%eth0", "", "http://127.0.0.1:8080"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Host = tt.host
		r.Header.Set("X-Forwarded-Proto", tt.proto)
		if got := answer.VisitedURL(r, tt.public); got != tt.want {
			t.Errorf("of %q, called as %q: %q, want %q", tt.public, tt.host, got, tt.want)
		}
	}
}
