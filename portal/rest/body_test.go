package rest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

func TestBodies(t *testing.T) {
	g := newRig(t)
	_, prj := g.world()
	for what, tt := range map[string]struct {
		body, text string // the error; none: it is taken
	}{
		"members that are not known":         {`{"x":{"name":1},"name":"n","project_id":"{prj}"}`, ""},
		"null for an optional one":           {`{"name":"n","project_id":"{prj}","voices":null}`, ""},
		"the last of a repeated one":         {`{"name":1,"name":"n","project_id":"{prj}"}`, ""},
		"white space around":                 {" \n{\"name\":\"n\",\"project_id\":\"{prj}\"}\t ", ""},
		"escapes":                            {`{"n\u0061me":"\ud83d\ude00","project_id":"{prj}"}`, ""},
		"nothing":                            {"", "invalid JSON: unexpected end"},
		"half":                               {`{"name":"n"`, "invalid JSON: unexpected end"},
		"a list":                             {`[]`, "invalid JSON: expected an object"},
		"null":                               {`null`, "invalid JSON: expected an object"},
		"a string":                           {`"x"`, "invalid JSON: expected an object"},
		"something behind":                   {`{"name":"n","project_id":"{prj}"}{}`, "invalid JSON: something follows the object"},
		"a name in another case":             {`{"Name":"n","project_id":"{prj}"}`, "name is required"},
		"null for a required one":            {`{"name":null,"project_id":"{prj}"}`, "name is required"},
		"a number for a string":              {`{"name":1,"project_id":"{prj}"}`, "name: must be a string"},
		"a string for a list":                {`{"name":"n","project_id":"{prj}","voices":"raj"}`, "voices: must be an array of strings"},
		"an object for a list":               {`{"name":"n","project_id":"{prj}","voices":{}}`, "voices: must be an array of strings"},
		"a list of something else":           {`{"name":"n","project_id":"{prj}","voices":["raj",1]}`, "voices: must be an array of strings"},
		"a list in a list":                   {`{"name":"n","project_id":"{prj}","voices":[["raj"]]}`, "voices: must be an array of strings"},
		"half a surrogate pair":              {`{"name":"\ud83d","project_id":"{prj}"}`, "name: not valid UTF-8"},
		"bytes that are not UTF-8":           {"{\"name\":\"\xff\",\"project_id\":\"{prj}\"}", "name: not valid UTF-8"},
		"such bytes in a list":               {"{\"name\":\"n\",\"project_id\":\"{prj}\",\"voices\":[\"\xff\"]}", "voices: not valid UTF-8"},
		"such bytes in what is not known":    {"{\"name\":\"n\",\"project_id\":\"{prj}\",\"x\":\"\xff\"}", "invalid JSON: not valid UTF-8"},
		"a name that is empty":               {`{"name":" ","project_id":"{prj}"}`, "name: must be 1 to 80 characters"},
		"a name with a control character":    {`{"name":"a\u0000","project_id":"{prj}"}`, "name: must not contain control characters"},
		"a project that is no identifier":    {`{"name":"n","project_id":"../x"}`, "not found"},
		"the first wrong field in our order": {`{"name":1,"project_id":2}`, "project_id: must be a string"},
	} {
		t.Run(what, func(t *testing.T) {
			got := g.do(owner, "POST", "/portal/v1/keys", strings.ReplaceAll(tt.body, "{prj}", prj))
			if tt.text == "" {
				if got.status != 200 {
					t.Errorf("refused: %s", got.body)
				}
				return
			}
			status := 400
			if tt.text == "not found" {
				status = 404
			}
			got.wantError(t, status, got.header.Get("X-Error-Code"), tt.text)
		})
	}
	g.do(owner, "POST", "/portal/v1/orgs", `{}`, "Content-Encoding", "gzip").
		wantError(t, 415, "bad_request", "Content-Encoding of requests is not supported")
	ok[any](g, owner, "POST", "/portal/v1/orgs", `{"name":"n"}`, "Content-Encoding", "identity", "Content-Type",
		"text/plain")
}

func TestDeepNesting(t *testing.T) {
	g := newRig(t)
	deep := `{"x":` + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + `,"name":"n"}`
	if got := g.do(owner, "POST", "/portal/v1/orgs", deep); got.status != 400 && got.status != 200 {
		t.Errorf("answered %d %s", got.status, got.body)
	}
}

// TestSizesOfBodies asks a running server, once with a length and once without.
func TestSizesOfBodies(t *testing.T) {
	g := newRig(t)
	listener := httptest.NewServer(g.server)
	defer listener.Close()
	sized := func(n int) string {
		const around = `{"name":"n","x":""}`
		return strings.Replace(around, `""`, `"`+strings.Repeat("a", n-len(around))+`"`, 1)
	}
	for n, want := range map[int]int{maxBody - 1: 200, maxBody: 200, maxBody + 1: 413, 3 * maxBody: 413} {
		for what, body := range map[string]io.Reader{
			"with a length": strings.NewReader(sized(n)),
			"without":       io.MultiReader(strings.NewReader(sized(n))),
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, listener.URL+"/portal/v1/orgs", body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer token-of-"+owner)
			res, err := listener.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != want {
				t.Errorf("%d bytes %s: %d %s, %v, want %d", n, what, res.StatusCode, b, err, want)
			}
			if want == 413 && string(b) != `{"error":"request body larger than 1048576 bytes"}` {
				t.Errorf("%d bytes %s: %s", n, what, b)
			}
		}
	}
	got := g.do(owner, "POST", "/portal/v1/orgs", sized(maxBody+1))
	got.wantError(t, 413, "body_too_large", "request body larger than 1048576 bytes")
	if got.header.Get("Connection") != "close" {
		t.Error("the connection of a body that is too large is kept")
	}
}

// expired is a body that does not arrive in time.
type expired struct{}

func (expired) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
}

// torn is a body whose client goes away.
type torn struct{}

func (torn) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestBodiesThatDoNotArrive(t *testing.T) {
	g := newRig(t)
	for body, want := range map[io.Reader]string{
		expired{}: `408 {"error":"request body was not received in time"}`,
		torn{}:    `400 {"error":"request body could not be read"}`,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/portal/v1/orgs", body)
		r.Header.Set("Authorization", "Bearer token-of-"+owner)
		w := httptest.NewRecorder()
		g.server.ServeHTTP(w, r)
		if got := fmt.Sprint(w.Code, " ", w.Body); got != want {
			t.Errorf("answered %s, want %s", got, want)
		}
	}
}

func TestIdempotency(t *testing.T) {
	g := newRig(t)
	org, prj := g.world()
	for path, body := range map[string]string{
		"/orgs":                     `{"name":"n"}`,
		"/orgs/" + org + "/members": `{"email":"new@example.org"}`,
		"/projects":                 `{"org_id":"` + org + `","name":"n"}`,
		"/keys":                     `{"project_id":"` + prj + `","name":"n"}`,
		"/playground-key":           `{"project_id":"` + prj + `"}`,
		"/voice-requests":           `{"org_id":"` + org + `","voice_name":"M","language":"hi","use_case":"u"}`,
	} {
		path = "/portal/v1" + path
		key := "key of " + path
		key = strings.ReplaceAll(key, " ", "-")
		first := g.do(owner, "POST", path, body, "Idempotency-Key", key)
		again := g.do(owner, "POST", path, body, "Idempotency-Key", key)
		if first.status != 200 || again.status != 200 || withoutSecret(first.body) != withoutSecret(again.body) {
			t.Errorf("%s: first %d %s, then %d %s", path, first.status, first.body, again.status, again.body)
		}
		g.do(owner, "POST", path, body+" ", "Idempotency-Key", key).
			wantError(t, 400, "idempotency_key_reused", "idempotency-key: was used with a different request")
		g.do(owner, "POST", "/portal/v1/orgs", `{"name":"elsewhere"}`, "Idempotency-Key", key).
			wantError(t, 400, "idempotency_key_reused", "idempotency-key: was used with a different request")
		for _, bad := range [][]string{
			{"Idempotency-Key", ""},
			{"Idempotency-Key", strings.Repeat("x", tenant.MaxIdempotencyKey+1)},
			{"Idempotency-Key", "a b"},
			{"Idempotency-Key", "a", "Idempotency-Key", "b"},
		} {
			g.do(owner, "POST", path, body, bad...).
				wantError(t, 400, "bad_idempotency_key", "idempotency-key: must be 1 to 255 visible ASCII characters")
		}
	}
	ok[any](g, owner, "POST", "/portal/v1/orgs", `{"name":"n"}`, "Idempotency-Key",
		strings.Repeat("x", tenant.MaxIdempotencyKey))
	mine := ok[orgAnswer](g, member, "POST", "/portal/v1/orgs", `{"name":"n"}`, "Idempotency-Key",
		strings.Repeat("x", tenant.MaxIdempotencyKey))
	if mine.Name != "n" || len(mine.Projects) != 1 {
		t.Errorf("another user's key gave %+v", mine)
	}
}

// withoutSecret leaves out what a repeated answer differs in.
func withoutSecret(body string) string {
	if _, row, ok := strings.Cut(body, `"row":`); ok {
		return row
	}
	return body
}

// TestASlowBodyIsCutOff holds a body back until the server waits no longer. The time is real, so the deadline is
// brought forward.
func TestASlowBodyIsCutOff(t *testing.T) {
	g := newRig(t)
	early := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.server.ServeHTTP(hurried{w}, r)
	})
	listener := httptest.NewServer(early)
	defer listener.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := "POST /portal/v1/orgs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-" + owner +
		"\r\nContent-Length: 20\r\n\r\n{"
	if _, err := conn.Write([]byte(head)); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn) // the server closes the connection
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 408 ")) ||
		!bytes.Contains(answer, []byte("request body was not received in time")) {
		t.Errorf("answered %q, %v", answer, err)
	}
}

// hurried lets deadlines end as soon as they are set.
type hurried struct{ http.ResponseWriter }

func (h hurried) SetReadDeadline(time.Time) error {
	return http.NewResponseController(h.ResponseWriter).SetReadDeadline(time.Now())
}
