package deepgram

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// maxText is how many code points a request, or a message of a socket, may have.
const maxText = 2000

var errTooLong = dialect.Refuse("text", speech.CodeTextTooLong, fmt.Sprintf("text longer than %d characters", maxText))

// readSpeech reads POST /v1/speak.
func readSpeech(c dialect.Call) (dialect.Order, error) {
	o, ignored, err := query{Values: c.Query, call: &c}.order()
	if err != nil {
		return o, err
	}
	members, err := strictjson.Strings(c.Body, "text", "url")
	if err != nil {
		return o, dialect.Refuse("", speech.CodeBadRequest, "invalid JSON: "+err.Error())
	}
	text, hasText := members["text"]
	switch {
	case members["url"] != "":
		return o, dialect.Refuse("url", speech.CodeBadRequest, "url is not supported; send the text itself")
	case !hasText:
		return o, dialect.Refuse("text", speech.CodeBadRequest, "text: required")
	}
	u := &o.Utterance
	if u.Text, err = speech.CleanText(text); err != nil {
		return o, err
	}
	chars := utf8.RuneCountInString(u.Text)
	if chars > maxText {
		return o, errTooLong
	}
	u.Text = spoken(u.Text)
	o.Headers = map[string]string{
		"Dg-Request-Id": c.RequestID, "Dg-Model-Name": dialect.HeaderValue(u.Voice), "Dg-Char-Count": strconv.Itoa(chars),
	}
	if len(ignored) > 0 {
		o.Headers["X-Ignored"] = dialect.Ignored(ignored)
	}
	return o, nil
}

// spoken returns a text without the pronunciations that clients put into it, \{"word": "X", "pronounce": "IPA"\} → X:
// a reading in phonemes is for another voice.
func spoken(text string) string {
	const opening, closing = `\{`, `\}`
	var clean strings.Builder
	for {
		before, rest, ok := strings.Cut(text, opening)
		inner, behind, isClosed := strings.Cut(rest, closing)
		if !ok || !isClosed {
			if clean.Len() == 0 {
				return text
			}
			clean.WriteString(text)
			return clean.String()
		}
		clean.WriteString(before)
		members, err := strictjson.Strings([]byte("{"+inner+"}"), "word", "pronounce")
		if word, isWord := members["word"]; err == nil && isWord {
			clean.WriteString(word)
			text = behind
			continue
		}
		clean.WriteString(opening)
		text = rest
	}
}
