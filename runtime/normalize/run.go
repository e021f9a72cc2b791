package normalize

// run reads the text.
func (r *reader) run() {
	last := len(r.Toks) - 1
	for i := 1; i < last; {
		if i >= r.Stop {
			if r.Toks[i].Line {
				r.writer.EndLine()
			}
			r.sentence(i)
		}
		r.passMarkup(i)
		if len(r.guides) == 0 {
			i = r.step(i)
		} else {
			i = r.guided(i)
		}
	}
	if r.Toks[last].Line { // of silent markup
		r.writer.EndLine()
	}
	r.passMarkup(last)
}
