package endpointslice

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apiServer lists and watches slices as Kubernetes does, and fails as a test tells it.
type apiServer struct {
	kubeconfig string
	refused    chan struct{} // receives for every request that fails, while somebody waits for that

	mu      sync.Mutex
	status  int    // of every answer; 0: they succeed
	body    string // of every list, if it is not a list
	version int
	slices  map[string]*discoveryv1.EndpointSlice
	events  []event
	oldest  int           // watches from before that have expired
	changed chan struct{} // closed and replaced when any of this changes
	paths   map[string]bool
}

// event is a line of a watch.
type event struct {
	version int
	line    string
}

func newAPIServer(t *testing.T) *apiServer {
	a := &apiServer{
		refused: make(chan struct{}), changed: make(chan struct{}),
		slices: make(map[string]*discoveryv1.EndpointSlice), version: 1, paths: make(map[string]bool),
	}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	a.kubeconfig = filepath.Join(t.TempDir(), "config")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c",` +
		`"clusters":[{"name":"c","cluster":{"server":"` + s.URL + `"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}]}`
	if err := os.WriteFile(a.kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// change lets f change what is answered.
func (a *apiServer) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	close(a.changed)
	a.changed = make(chan struct{})
}

// put makes s a slice of the Service, instead of the one with its name.
func (a *apiServer) put(s *discoveryv1.EndpointSlice) {
	a.change(func() {
		typ := "ADDED"
		if a.slices[s.Name] != nil {
			typ = "MODIFIED"
		}
		a.version++
		s.ResourceVersion = strconv.Itoa(a.version)
		a.slices[s.Name] = s
		a.events = append(a.events, event{a.version, eventLine(typ, s)})
	})
}

func (a *apiServer) remove(name string) {
	a.change(func() {
		a.version++
		gone := a.slices[name].DeepCopy()
		gone.ResourceVersion = strconv.Itoa(a.version)
		delete(a.slices, name)
		a.events = append(a.events, event{a.version, eventLine("DELETED", gone)})
	})
}

// say puts a line into watches that no change has caused.
func (a *apiServer) say(line string) {
	a.change(func() {
		a.version++
		a.events = append(a.events, event{a.version, line})
	})
}

// fail answers every request, also those that run, with a status, until it is 0.
func (a *apiServer) fail(status int) { a.change(func() { a.status = status }) }

// forget lets every watch from now on expire that does not begin with a new list.
func (a *apiServer) forget() {
	a.change(func() {
		a.version++
		a.oldest, a.events = a.version, nil
	})
}

// awaitRefusals returns when so many requests have failed.
func (a *apiServer) awaitRefusals(n int) {
	for range n {
		<-a.refused
	}
}

func eventLine(typ string, object any) string {
	b, err := json.Marshal(map[string]any{"type": typ, "object": object})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.paths[r.URL.Path+"?labelSelector="+r.URL.Query().Get("labelSelector")] = true
	status, body := a.status, a.body
	a.mu.Unlock()
	switch {
	case status != 0:
		http.Error(w, "as the test wants", status)
	case r.URL.Query().Has("watch"):
		a.watch(w, r)
		return
	case body != "":
		fmt.Fprint(w, body)
	default:
		a.list(w)
		return
	}
	select {
	case a.refused <- struct{}{}:
	default:
	}
}

func (a *apiServer) list(w http.ResponseWriter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := discoveryv1.EndpointSliceList{
		TypeMeta: metav1.TypeMeta{Kind: "EndpointSliceList", APIVersion: "discovery.k8s.io/v1"},
		ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(a.version)},
	}
	for _, s := range a.slices {
		list.Items = append(list.Items, *s)
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(list); err != nil {
		panic(err)
	}
}

func (a *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	for {
		a.mu.Lock()
		changed := a.changed
		if a.status != 0 {
			a.mu.Unlock()
			return
		}
		if from < a.oldest {
			fmt.Fprintln(w, eventLine("ERROR", metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
				Reason: metav1.StatusReasonExpired, Code: http.StatusGone, Message: "too old resource version",
			}))
			a.mu.Unlock()
			return
		}
		for _, e := range a.events {
			if e.version > from {
				fmt.Fprintln(w, e.line)
				from = e.version
			}
		}
		a.mu.Unlock()
		http.NewResponseController(w).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}
