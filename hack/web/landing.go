package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"reflect"
)

// landingWords are what the landing page says in one language.
type landingWords struct {
	Title, Lead, Skip, Ways, Docs, Other, OtherCode, SignIn, Playground, Start, News string
	Hear, HearLead, Voice, Read, ReadLead, Written, Spoken, Curl, CurlLead           string
	Facts                                                                            []struct{ Name, Text string }
}

// An example shows one piece of a text, as it is written and as it is spoken. A test of the server holds it to what it
// says.
type example struct {
	Kind                                                      string // of the mark
	Before, Written, After, SpokenBefore, Spoken, SpokenAfter string
}

var examples = []example{
	{"qty", "Total ", "₹1,24,999.50", " hai.", "Total ", "एक लाख चौबीस हज़ार नौ सौ निन्यानबे रुपये पचास पैसे", " hai."},
	{"code", "Aapka OTP ", "482913", " hai.", "Aapka ओ टी पी ", "चार आठ दो नौ एक तीन", " hai."},
}

// landing returns the landing page of each language, by the names of files below dist.
func landing(folder string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(folder, "words.json"))
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var words map[string]landingWords
	if err := decoder.Decode(&words); err != nil {
		return nil, fmt.Errorf("words.json: %w", err)
	}
	form, err := template.ParseFiles(filepath.Join(folder, "page.html"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for lang, w := range words {
		if missing := unsaid(reflect.ValueOf(w)); missing != "" || len(w.Facts) != len(words["en"].Facts) {
			return nil, fmt.Errorf("words.json: %s lacks %s", lang, missing)
		}
		var b bytes.Buffer
		err := form.Execute(&b, struct {
			Lang     string
			Words    landingWords
			Examples []example
			Voices   template.HTML
		}{lang, w, examples, voicesMark(w)})
		if err != nil {
			return nil, err
		}
		files["landing."+lang+".html"] = b.Bytes()
	}
	return files, nil
}

// voicesMark is the place of the voices, which the server knows: what stands before, around and after each.
func voicesMark(w landingWords) template.HTML {
	e := template.HTMLEscapeString
	return template.HTML("<!-- voices " + `<section><h2>` + e(w.Hear) + `</h2><p>` + e(w.HearLead) +
		`</p><div class="voices">` + "|" +
		`<div class="card"><h3>` + e(w.Voice) + ` <span lang="en">NAME</span></h3><audio controls preload="none" src="/samples/FILE.wav" aria-label="` + e(w.Voice) + ` NAME"></audio></div>` + "|" +
		`</div></section>` + " -->")
}

// unsaid names the first word that is missing.
func unsaid(v reflect.Value) string {
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			return v.Type().Field(i).Name
		}
	}
	return ""
}
