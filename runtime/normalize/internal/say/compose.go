package say

import "golang.org/x/text/unicode/norm"

// Compose brings what has been written into NFC: marks stand together there that did not in the text.
func (w *Writer) Compose() {
	if norm.NFC.IsNormal(w.Out) {
		return
	}
	out, done := make([]byte, 0, len(w.Out)+16), 0
	upTo := func(at int) int {
		out, done = norm.NFC.Append(out, w.Out[done:at]...), at
		return len(out)
	}
	for i := range w.Pieces {
		p := &w.Pieces[i]
		p.From = upTo(max(p.From, done))
		p.To = upTo(max(p.To, done))
	}
	upTo(len(w.Out))
	for i := range w.Pieces { // a mark may have gone onto a letter before
		p := &w.Pieces[i]
		p.From, p.To = min(p.From, len(out)), min(p.To, len(out))
	}
	w.Out = out
}
