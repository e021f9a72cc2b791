package serve

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/swar-tts/swar/runtime/access"
)

func TestAuthenticate(t *testing.T) {
	const url = "/v1/tts/stream"
	tests := []struct {
		sentence string
		url      string
		headers  map[string]string
		query    bool
		want     error
	}{
		{"x-api-key", url, map[string]string{"x-api-key": testKey}, false, nil},
		{"a bearer token", url, map[string]string{"Authorization": "Bearer " + testKey}, false, nil},
		{"bearer in small letters", url, map[string]string{"Authorization": "bearer " + testKey}, false, nil},
		{"bearer in capitals and more spaces", url, map[string]string{"Authorization": "BEARER   " + testKey + " "}, false, nil},
		{"x-api-key decides over a bearer token", url, map[string]string{"x-api-key": "wrong", "Authorization": "Bearer " + testKey}, false, access.ErrInvalidKey},
		{"x-api-key decides over a wrong bearer token", url, map[string]string{"x-api-key": testKey, "Authorization": "Bearer wrong"}, false, nil},
		{"an empty x-api-key is missing", url, map[string]string{"x-api-key": "", "Authorization": "Bearer " + testKey}, false, nil},
		{"nothing at all", url, nil, false, access.ErrMissingKey},
		{"empty headers", url, map[string]string{"x-api-key": "", "Authorization": ""}, false, access.ErrMissingKey},
		{"a bearer without a token", url, map[string]string{"Authorization": "Bearer"}, false, access.ErrMissingKey},
		{"a bearer with an empty token", url, map[string]string{"Authorization": "Bearer  "}, false, access.ErrMissingKey},
		{"another scheme", url, map[string]string{"Authorization": "Basic " + testKey}, false, access.ErrMissingKey},
		{"a wrong key", url, map[string]string{"x-api-key": "wrong"}, false, access.ErrInvalidKey},
		{"an ID token", url, map[string]string{"Authorization": "Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln"}, false, access.ErrInvalidKey},
		{"a key in the query is for handshakes only", url + "?api_key=" + testKey, nil, false, access.ErrMissingKey},
		{"a subprotocol is for handshakes only", url, map[string]string{"Sec-WebSocket-Protocol": "key." + testKey}, false, access.ErrMissingKey},
		{"a handshake with a header", url, map[string]string{"x-api-key": testKey}, true, nil},
		{"a handshake with a bearer token", url, map[string]string{"Authorization": "Bearer " + testKey}, true, nil},
		{"a handshake with a query", url + "?a=b&api_key=" + testKey, nil, true, nil},
		{"a handshake with a subprotocol", url, map[string]string{"Sec-WebSocket-Protocol": "tts.v1, key." + testKey}, true, nil},
		{"a header decides over the query", url + "?api_key=" + testKey, map[string]string{"x-api-key": "wrong"}, true, access.ErrInvalidKey},
		{"the query decides over a subprotocol", url + "?api_key=wrong", map[string]string{"Sec-WebSocket-Protocol": "key." + testKey}, true, access.ErrInvalidKey},
		{"an empty query is missing", url + "?api_key=", nil, true, access.ErrMissingKey},
		{"an empty subprotocol is missing", url, map[string]string{"Sec-WebSocket-Protocol": "key., tts.v1"}, true, access.ErrMissingKey},
	}
	s, _ := newServer(t, &script{})
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tt.url, nil)
			for name, value := range tt.headers {
				r.Header.Set(name, value)
			}
			grant, err := s.grant(r.Context(), s.credentials(r, tt.query))
			if !errors.Is(err, tt.want) {
				t.Errorf("error = %v, want %v", err, tt.want)
			}
			if (grant.KeyID != "") != (tt.want == nil) {
				t.Errorf("grant = %+v", grant)
			}
		})
	}
}
