package launch

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Task shows the progress of long work. On a terminal it is a bar, elsewhere a line for each part.
type Task struct {
	screen *Screen
	bar    *progressbar.ProgressBar // nil: not a terminal
	total  int64
	what   string
	aside  string // what is shown behind it on a terminal
}

// NewTask returns a task that is shown beside what the program prints.
func (p *Program) NewTask() *Task { return &Task{screen: p.Err} }

// At reports progress: done of total, in any unit, and the current step. A total of 0 means unknown.
func (t *Task) At(done, total int64, what string) {
	fresh := what != t.what
	t.what = what
	if fresh {
		t.aside = ""
	}
	if !t.screen.Terminal {
		if fresh && (total == 0 || done < total) { // that all is done, the result says
			fmt.Fprintf(t.screen, "%s\n", what)
		}
		return
	}
	if total <= 0 {
		total = -1
	}
	if t.bar == nil || total != t.total {
		t.Clear()
		t.total = total
		t.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(t.screen),
			progressbar.OptionSetDescription(what),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSpinnerType(14),
			progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(65*time.Millisecond),
		)
	}
	if fresh {
		t.bar.Describe(what)
	}
	_ = t.bar.Set64(done) // drawing may fail, the work continues
}

// With adds a note to the present work, such as the remaining time. On a terminal it follows the bar; elsewhere, if
// isLine, it is a separate line. It is forgotten when other work begins.
func (t *Task) With(text string, isLine bool) {
	if !t.screen.Terminal && isLine {
		fmt.Fprintf(t.screen, "%s: %s\n", t.what, text)
	}
	if t.bar != nil && text != t.aside {
		t.bar.Describe(t.what + ", " + text)
	}
	t.aside = text
}

// Clear takes what was drawn off the screen. More may follow.
func (t *Task) Clear() {
	if t.bar != nil {
		_ = t.bar.Finish() // which ends the goroutine that turns a spinner, too
		t.bar = nil
	}
}
