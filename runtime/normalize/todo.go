package normalize

func (r *reader) webAddress(i int) int    { return i }
func (r *reader) maskedWord(i int) int    { return i }
func (r *reader) maskedDigits(i int) int  { return i }
func (r *reader) maskedSign(i int) int    { return i }
func (r *reader) monthFirst(i int) int    { return i }
func (r *reader) listNumber(i int) int    { return i }
func (r *reader) date(i int) int          { return i }
func (r *reader) clock(i int) int         { return i }
func (r *reader) alwaysOpen(i int) int    { return i }
func (r *reader) ordinalNumber(i int) int { return i }
func (r *reader) fraction(i int) int      { return i }
func (r *reader) bareYear(i int) int      { return i }
func (r *reader) markup(i int) int        { return i }
func (r *reader) handle(i int) int        { return i }
