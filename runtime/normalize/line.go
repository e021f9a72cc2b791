package normalize

// line returns the end of the line that token i is in.
func (r *reader) line(i int) int {
	if i >= r.lineStop {
		r.lineStop = i + 1
		for r.lineStop < len(r.Toks)-1 && !r.Toks[r.lineStop].Line {
			r.lineStop++
		}
	}
	return r.lineStop
}
