package speech

import "unicode/utf8"

// Metadata is what audio says of itself where its container has room for that.
type Metadata struct {
	Service   string // who speaks; empty for none, as the others
	Model     string
	RequestID string
}

// maxTag is how many bytes of a value are written. What an API takes is shorter.
const maxTag = 255

// Tags returns m as lines of NAME=VALUE, as Vorbis comments have them. The first one says that the speech is synthetic.
func (m Metadata) Tags() []string {
	tags := []string{"SYNTHETIC=1"}
	for _, tag := range []struct{ name, value string }{
		{"SERVICE", m.Service}, {"MODEL", m.Model}, {"REQUEST_ID", m.RequestID},
	} {
		if tag.value != "" {
			tags = append(tags, tag.name+"="+cut(tag.value, maxTag))
		}
	}
	return tags
}

// cut returns what begins text: whole characters of at most so many bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
