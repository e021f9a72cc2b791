package rest

import (
	"errors"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// disclosureFields are the two fields that change the disclosure. null is absence, as everywhere, so removing a setting
// has a field of its own.
type disclosureFields struct {
	text    *string
	inherit *bool
}

var (
	errNotTrue       = errors.New("must be true, or left out")
	errDisclosedBoth = tenant.BadField("disclosure", "contradicts inherit_disclosure; send one of them")
)

func (d *disclosureFields) fields() []field {
	return []field{
		given("disclosure", &d.text, strictjson.String),
		given("inherit_disclosure", &d.inherit, func(v jsontext.Value, to *bool) error {
			if v.Kind() != 't' {
				return errNotTrue
			}
			*to = true
			return nil
		}),
	}
}

// change is what they ask for; nil without any.
func (d *disclosureFields) change() (*speech.Disclosure, error) {
	switch {
	case d.text != nil && d.inherit != nil:
		return nil, errDisclosedBoth
	case d.inherit != nil:
		return &speech.Disclosure{}, nil
	case d.text != nil:
		return &speech.Disclosure{Set: true, Text: *d.text}, nil
	}
	return nil, nil
}

// shapeDisclosure is nil for one that sets nothing, so that it is left out.
func shapeDisclosure(d speech.Disclosure) *string {
	if !d.Set {
		return nil
	}
	return &d.Text
}

// awaitAll waits for keys to be known as they are now, all at the same time, because each may take a second.
func (s *Server) awaitAll(c *call, keys []tenant.Key) {
	var waiting sync.WaitGroup
	for _, k := range keys {
		waiting.Go(func() { s.cfg.AwaitKey(c.ctx(), k) })
	}
	waiting.Wait()
}
