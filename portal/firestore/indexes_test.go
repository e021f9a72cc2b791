package firestore

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/tenant"
)

// indexFile is what firestore.indexes.json says.
type indexFile struct {
	Indexes []struct {
		CollectionGroup, QueryScope string
		Fields                      []struct{ FieldPath, Order, ArrayConfig string }
	}
	FieldOverrides []struct {
		CollectionGroup, FieldPath string
		TTL                        bool
		Indexes                    []struct{ Order, ArrayConfig, QueryScope string }
	}
}

func readIndexFile(t *testing.T) (f indexFile) {
	t.Helper()
	text, err := os.ReadFile("firestore.indexes.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatal(err)
	}
	return f
}

// all are the indexes of the file, as text.
func (f indexFile) all() (indexes []string) {
	for _, i := range f.Indexes {
		var fields []string
		for _, field := range i.Fields {
			prefix := map[string]string{"ASCENDING": "", "DESCENDING": "-"}[field.Order]
			if field.ArrayConfig == "CONTAINS" {
				prefix = "[]"
			}
			fields = append(fields, prefix+field.FieldPath)
		}
		indexes = append(indexes, index{i.CollectionGroup, i.QueryScope == "COLLECTION_GROUP", fields}.String())
	}
	for _, o := range f.FieldOverrides {
		for _, i := range o.Indexes {
			indexes = append(indexes, index{o.CollectionGroup, i.QueryScope == "COLLECTION_GROUP",
				[]string{o.FieldPath}}.String())
		}
	}
	return indexes
}

func TestIndexFileHasWhatQueriesNeed(t *testing.T) {
	have := readIndexFile(t).all()
	var need []string
	for _, sh := range shapes {
		for _, i := range sh.indexes() {
			need = append(need, i.String())
			if !slices.Contains(have, i.String()) {
				t.Errorf("firestore.indexes.json lacks an index for %s: %s", sh.name, i)
			}
		}
	}
	for _, i := range have {
		if !slices.Contains(need, i) {
			t.Errorf("firestore.indexes.json has an index that no query needs: %s", i)
		}
	}
	if len(need) < 20 {
		t.Errorf("only %d indexes are needed; are the shapes complete?", len(need))
	}
}

// Firestore indexes every field by itself unless it is told not to.
func TestIndexFileExemptsWhatIsNotQueried(t *testing.T) {
	exempt, ttl := map[string]bool{}, map[string]bool{}
	for _, o := range readIndexFile(t).FieldOverrides {
		if o.FieldPath == "*" && len(o.Indexes) == 0 {
			exempt[o.CollectionGroup] = true
		}
		if o.TTL {
			ttl[o.CollectionGroup] = true
			if o.FieldPath != "expire_at" {
				t.Errorf("documents of %s expire by %s, want expire_at", o.CollectionGroup, o.FieldPath)
			}
		}
	}
	for _, c := range []string{
		"orgs", "members", "audit", "shards", "requests", "projects", "keys", "uses", "voice_requests", "answers", "sources", "months",
		"signin", "commits",
	} {
		if !exempt[c] {
			t.Errorf("fields of %s are indexed that no query needs", c)
		}
	}
	for _, c := range []string{"requests", "keys", "uses", "answers", "signin", "commits"} {
		if !ttl[c] {
			t.Errorf("nothing deletes expired %s", c)
		}
	}
}

// Every query goes through [Store.in], so that it has one of the shapes.
func TestQueriesHaveShapes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && file != "query.go" {
				used[id.Name] = true
			}
			if s, ok := n.(*ast.SelectorExpr); ok && file != "query.go" {
				switch s.Sel.Name {
				case "Where", "OrderBy", "CollectionGroup", "DocumentRefs", "Collections":
					t.Errorf("%s asks a query by %s that is not of a declared shape", file, s.Sel.Name)
				}
			}
			return true
		})
	}
	for _, name := range []string{"orgsByID", "requestsPage", "shardsOfDay", "activeKeys"} {
		if !used[name] {
			t.Errorf("the shape %s is not used, or this test looks in the wrong place", name)
		}
	}
}

func TestCheck(t *testing.T) {
	s, f := openFaulty(t, newProject(), nil)
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check of a good database: %v", err)
	}
	f.set(func(string) fault { return fault{before: status.Error(codes.PermissionDenied, "no")} })
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "roles/datastore.user") {
		t.Errorf("Check without permission: %v", err)
	}
}

// For every index of the file, a database without it is refused with a sentence that names it.
func TestCheckNamesMissingIndex(t *testing.T) {
	needEmulator(t)
	asked := map[string]bool{}
	for _, missing := range readIndexFile(t).all() {
		lacks := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
			open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := open(ctx, desc, cc, method, opts...)
			return &indexless{ClientStream: stream, missing: missing, asked: asked}, err
		}
		s := openProject(t, newProject(), nil, grpc.WithChainStreamInterceptor(lacks))
		err := s.Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without the index of %s Check says: %v", missing, err)
		}
		s.Close()
	}
	if len(asked) == 0 {
		t.Error("no query was seen")
	}
}

// indexless refuses queries that need an index, as Firestore does when it is missing.
type indexless struct {
	grpc.ClientStream
	missing string

	mu    sync.Mutex
	asked map[string]bool
	err   error
}

func (s *indexless) SendMsg(m any) error {
	if r, ok := m.(*firestorepb.RunQueryRequest); ok {
		needed := indexOf(r.GetStructuredQuery())
		s.mu.Lock()
		s.asked[needed] = true
		if needed == s.missing {
			s.err = status.Error(codes.FailedPrecondition, "The query requires an index.")
		}
		s.mu.Unlock()
	}
	return s.ClientStream.SendMsg(m)
}

func (s *indexless) RecvMsg(m any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return s.ClientStream.RecvMsg(m)
}

// indexOf works out, from the query as it is sent, the one index that it needs if it has at most one filter beside the
// first of its kind.
func indexOf(q *firestorepb.StructuredQuery) string {
	i := index{collection: q.GetFrom()[0].GetCollectionId(), group: q.GetFrom()[0].GetAllDescendants()}
	var filters []*firestorepb.StructuredQuery_FieldFilter
	if f := q.GetWhere().GetFieldFilter(); f != nil {
		filters = append(filters, f)
	}
	for _, f := range q.GetWhere().GetCompositeFilter().GetFilters() {
		filters = append(filters, f.GetFieldFilter())
	}
	if n := len(filters); n > 0 { // the ones before have indexes of their own, which are checked by themselves
		f := filters[n-1]
		prefix := ""
		if f.GetOp() == firestorepb.StructuredQuery_FieldFilter_ARRAY_CONTAINS {
			prefix = "[]"
		}
		i.fields = append(i.fields, prefix+f.GetField().GetFieldPath())
	}
	for _, o := range q.GetOrderBy() {
		prefix := ""
		if o.GetDirection() == firestorepb.StructuredQuery_DESCENDING {
			prefix = "-"
		}
		i.fields = append(i.fields, prefix+o.GetField().GetFieldPath())
	}
	return i.String()
}

// Whoever does not come as the server sees nothing and changes nothing.
func TestRulesDenyEverything(t *testing.T) {
	project := newProject()
	s := openProject(t, project, nil)
	err := s.Update(t.Context(), func(tx tenant.Tx) error {
		tx.PutOrg(tenant.Org{ID: "org_a"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body, who string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method,
			"http://"+emulator+"/v1/projects/"+project+"/databases/(default)/documents"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if who != "" {
			req.Header.Set("Authorization", "Bearer "+who)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	use := func(rules string) {
		t.Helper()
		file := map[string]any{"name": "firestore.rules", "content": rules}
		body, err := json.Marshal(map[string]any{"rules": map[string]any{"files": []any{file}}})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
			"http://"+emulator+"/emulator/v1/projects/"+project+":securityRules", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("the emulator takes the rules with %d", answer.StatusCode)
		}
	}
	rules, err := os.ReadFile("firestore.rules")
	if err != nil {
		t.Fatal(err)
	}
	use(strings.Replace(string(rules), "if false", "if true", 1))
	if got := ask("GET", "/orgs/org_a", "", ""); got != http.StatusOK {
		t.Fatalf("with rules that allow everything anybody gets %d, so this test shows nothing", got)
	}
	use(string(rules))
	if got := ask("GET", "/orgs/org_a", "", "owner"); got != http.StatusOK {
		t.Fatalf("the server itself gets %d, want 200", got)
	}
	// An unsigned token is how the emulator lets anybody be signed in.
	const signedIn = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJ1c3JfMSIsInVzZXJfaWQiOiJ1c3JfMSIsImVtYWlsIjoiYUBiIn0."
	for _, who := range []string{"", signedIn} {
		for _, path := range []string{
			"/orgs/org_a", "/orgs/org_a/members/m", "/orgs/org_a/requests/r", "/orgs/org_a/shards/s", "/orgs/org_a/audit/a", "/keys/k", "/uses/k",
			"/projects/p", "/voice_requests/v", "/answers/a", "/sources/s", "/months/m", "/signin/s", "/commits/c", "/anything/else",
		} {
			for _, call := range []struct{ method, body string }{{"GET", ""},
				{"PATCH", `{"fields":{"a":{"integerValue":"1"}}}`}, {"DELETE", ""}} {
				if got := ask(call.method, path, call.body, who); got != http.StatusForbidden {
					t.Errorf("%s %s by %q is answered with %d, want 403", call.method, path, who, got)
				}
			}
		}
		if got := ask("POST", ":runQuery", `{"structuredQuery":{"from":[{"collectionId":"orgs"}]}}`,
			who); got != http.StatusForbidden {
			t.Errorf("a query by %q is answered with %d, want 403", who, got)
		}
	}
}
