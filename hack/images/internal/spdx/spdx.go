// Package spdx writes what an image consists of as a document of SPDX 2.3.
package spdx

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

const none = "NOASSERTION"

// A Package is one thing that an image contains. What is not known stays empty.
type Package struct {
	Name     string
	Version  string
	Licence  string // an expression of SPDX
	Supplier string // such as Organization: Debian
	URL      string // package URL, https://github.com/package-url
	SHA256   string // in hex, of a single file
	Source   string // where it comes from, in words
	Purpose  string // CONTAINER, APPLICATION, LIBRARY and so on
}

// A Document lists packages and which contains which.
type Document struct {
	name, namespace string
	created         time.Time
	packages        []any
	relationships   []any
	seen            map[string]bool
}

// New begins a document. The namespace is a URI that no other document has.
func New(name, namespace string, created time.Time) *Document {
	return &Document{name: name, namespace: namespace, created: created, seen: map[string]bool{}}
}

// Add adds a package and returns its identifier. within is the identifier of what contains it; empty for what the
// document is about. A package that is there already is contained in one thing more.
func (d *Document) Add(p Package, within string) string {
	id := "SPDXRef-" + identifier(p.Name+"-"+p.Version)
	if !d.seen[id] {
		d.seen[id] = true
		d.packages = append(d.packages, p.json(id))
	}
	kind := "CONTAINS"
	if within == "" {
		within, kind = "SPDXRef-DOCUMENT", "DESCRIBES"
	}
	d.relationships = append(d.relationships, struct {
		Element string `json:"spdxElementId"`
		Kind    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}{within, kind, id})
	return id
}

// Write writes the document as JSON.
func (d *Document) Write(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(struct {
		Version   string         `json:"spdxVersion"`
		Licence   string         `json:"dataLicense"`
		ID        string         `json:"SPDXID"`
		Name      string         `json:"name"`
		Namespace string         `json:"documentNamespace"`
		Creation  map[string]any `json:"creationInfo"`
		Packages  []any          `json:"packages"`
		Relations []any          `json:"relationships"`
	}{
		"SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT", d.name, d.namespace,
		map[string]any{"created": d.created.UTC().Format("2006-01-02T15:04:05Z"),
			"creators": []string{"Tool: hack-images"}},
		d.packages, d.relationships,
	})
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

func (p Package) json(id string) any {
	v := struct {
		Name       string      `json:"name"`
		ID         string      `json:"SPDXID"`
		Version    string      `json:"versionInfo,omitempty"`
		Supplier   string      `json:"supplier,omitempty"`
		Location   string      `json:"downloadLocation"`
		Analyzed   bool        `json:"filesAnalyzed"`
		Checksums  []checksum  `json:"checksums,omitempty"`
		Source     string      `json:"sourceInfo,omitempty"`
		Concluded  string      `json:"licenseConcluded"`
		Declared   string      `json:"licenseDeclared"`
		Copyright  string      `json:"copyrightText"`
		References []reference `json:"externalRefs,omitempty"`
		Purpose    string      `json:"primaryPackagePurpose,omitempty"`
	}{
		Name: p.Name, ID: id, Version: p.Version, Supplier: p.Supplier, Location: none, Source: p.Source,
		Concluded: none, Declared: none, Copyright: none, Purpose: p.Purpose,
	}
	if p.Licence != "" {
		v.Declared = p.Licence
	}
	if p.SHA256 != "" {
		v.Checksums = []checksum{{"SHA256", p.SHA256}}
	}
	if p.URL != "" {
		v.References = []reference{{"PACKAGE-MANAGER", "purl", p.URL}}
	}
	return v
}

// identifier turns other characters than letters, digits, dots and dashes into something that stays different.
func identifier(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			out.WriteRune(r)
		case r == '/':
			out.WriteByte('-')
		default:
			fmt.Fprintf(&out, "-%x-", r)
		}
	}
	return out.String()
}
