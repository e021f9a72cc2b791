package spdx

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"
)

func document() *Document {
	d := New("worker", "https://example.org/sbom/1",
		time.Date(2026, 11, 22, 3, 0, 0, 500, time.FixedZone("IST", 19800)))
	image := d.Add(Package{Name: "worker", Version: "v1", Licence: "Apache-2.0", Purpose: "CONTAINER"}, "")
	for _, program := range []string{"swar", "swar-worker"} {
		p := d.Add(Package{Name: program, SHA256: "00"}, image)
		d.Add(Package{Name: "golang.org/x/sys", Version: "v1", URL: "pkg:golang/golang.org/x/sys@v1"}, p)
	}
	d.Add(Package{Name: "libstdc++6", Version: "12.2.0-14+deb12u1"}, image)
	return d
}

func TestADocumentIsWhatTheSpecificationAsksFor(t *testing.T) {
	var first, second bytes.Buffer
	if document().Write(&first) != nil || document().Write(&second) != nil || first.String() != second.String() {
		t.Fatal("the same packages do not give the same document")
	}
	var got struct {
		SPDXVersion, SPDXID, DocumentNamespace string
		CreationInfo                           struct{ Created string }
		Packages                               []struct {
			SPDXID, DownloadLocation, LicenseConcluded, LicenseDeclared, CopyrightText string
			FilesAnalyzed                                                              *bool
		}
		Relationships []struct{ SPDXElementID, RelationshipType, RelatedSPDXElement string }
	}
	if err := json.Unmarshal(first.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.SPDXVersion != "SPDX-2.3" || got.CreationInfo.Created != "2026-11-21T21:30:00Z" ||
		got.DocumentNamespace == "" {
		t.Errorf("got %+v", got)
	}
	valid := regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	known := map[string]bool{got.SPDXID: true}
	for _, p := range got.Packages {
		if !valid.MatchString(p.SPDXID) || known[p.SPDXID] {
			t.Errorf("the identifier %s is twice there or has other characters than letters, digits, dots and dashes",
				p.SPDXID)
		}
		known[p.SPDXID] = true
		required := []string{p.DownloadLocation, p.LicenseConcluded, p.LicenseDeclared, p.CopyrightText}
		if slices.Contains(required, "") || p.FilesAnalyzed == nil {
			t.Errorf("package %+v lacks a field", p)
		}
	}
	if len(got.Packages) != 5 || len(got.Relationships) != 6 {
		t.Errorf("%d packages and %d relationships, want 5 and 6", len(got.Packages), len(got.Relationships))
	}
	for _, r := range got.Relationships {
		if !known[r.SPDXElementID] || !known[r.RelatedSPDXElement] {
			t.Errorf("the relationship %+v names what is not there", r)
		}
	}
	if first := got.Relationships[0]; first.RelationshipType != "DESCRIBES" ||
		first.SPDXElementID != "SPDXRef-DOCUMENT" {
		t.Errorf("the first relationship is %+v", first)
	}
}

func TestIdentifiersStayDifferent(t *testing.T) {
	if a, b := identifier("a+b"), identifier("a~b"); a == b {
		t.Errorf("two names become %s", a)
	}
}
