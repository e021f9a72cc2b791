package normalize

func (r *reader) webAddress(i int) int { return i }
func (r *reader) listNumber(i int) int { return i }
func (r *reader) markup(i int) int     { return i }
func (r *reader) handle(i int) int     { return i }
