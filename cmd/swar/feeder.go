package main

import (
	"strings"
	"unicode/utf8"

	"github.com/swar-tts/swar/client"
)

// Largest input of an utterance before another one begins: the limits are 4000 characters and 64 chunks, and nearly
// every sentence is a chunk.
const (
	fedSentences = 30
	fedEnough    = 1500 // characters, at the end of a sentence
	maxFed       = 3000 // anywhere
)

// feeder feeds a text of any length to utterances of a connection, one behind the other.
type feeder struct {
	conn    *client.Conn
	request client.Request // of each utterance, but for its text and its id

	opened int    // utterances
	id     string // the one that is fed; empty: the next piece opens one
	fed    int    // code points that it was fed
	ends   int    // sentences, roughly
}

// feed feeds a piece of text, and returns the id of the utterance that it has opened; empty for none.
func (f *feeder) feed(text string) (opened string, err error) {
	n := utf8.RuneCountInString(text)
	if f.fed+n > maxFed {
		if err := f.finish(); err != nil {
			return "", err
		}
	}
	r := f.request
	r.Text, r.RequestID = text, f.id
	id, err := f.conn.Append(r)
	if err != nil {
		return "", err
	}
	if f.id == "" {
		opened, f.id, f.fed, f.ends = id, id, 0, 0
		f.opened++
	}
	f.fed += n
	if strings.ContainsAny(text, ".!?।\n") {
		if f.ends++; f.ends >= fedSentences || f.fed >= fedEnough {
			return opened, f.finish()
		}
	}
	return opened, nil
}

// finish ends the present utterance, if there is one.
func (f *feeder) finish() error {
	id := f.id
	if f.id = ""; id == "" {
		return nil
	}
	return f.conn.Finish(id)
}

// ended notes that an utterance has ended, though it was not finished.
func (f *feeder) ended(id string) {
	if f.id == id {
		f.id = ""
	}
}
