// Command romanwords counts the words of Roman Hindi in a text that no table of runtime/translit has, the most frequent
// first, so that rows are added where listeners meet them.
//
//	go run ./hack/romanwords chats.txt         # how often, the word, how it is written now, where it stands first
//	go run ./hack/romanwords -least 3 < chats.txt
//
// It reads UTF-8 of any form, one message a line; of lines of JSON it takes the field text.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/translit"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "romanwords:", err)
		os.Exit(1)
	}
}

// missing is a word without a row.
type missing struct {
	translit.Guess
	times int
	where string // the first message that has it
}

func run(args []string, in io.Reader, out io.Writer) error {
	f := flag.NewFlagSet("romanwords", flag.ContinueOnError)
	f.SetOutput(out)
	least := f.Int("least", 2, "how often a word must stand in the text")
	most := f.Int("most", 200, "how many words are printed")
	if err := f.Parse(args); err != nil {
		return err
	}
	words := map[string]*missing{}
	if f.NArg() == 0 {
		if err := count(in, words); err != nil {
			return err
		}
	}
	for _, name := range f.Args() {
		if err := countFile(name, words); err != nil {
			return err
		}
	}
	list := make([]*missing, 0, len(words))
	for _, m := range words {
		if m.times >= *least {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *missing) int {
		return cmp.Or(b.times-a.times, strings.Compare(a.Word, b.Word))
	})
	for _, m := range list[:min(len(list), *most)] {
		if _, err := fmt.Fprintf(out, "%6d  %-20s %-20s %s\n", m.times, m.Word, m.Written, m.where); err != nil {
			return err
		}
	}
	return nil
}

func countFile(name string, words map[string]*missing) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := count(f, words); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// count adds the words of a text without rows.
func count(in io.Reader, words map[string]*missing) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := message(lines.Bytes())
		for _, g := range translit.Guesses(normalize.Text(text, normalize.Options{})) {
			m := words[g.Word]
			if m == nil {
				m = &missing{Guess: g, where: text}
				words[g.Word] = m
			}
			m.times++
		}
	}
	return lines.Err()
}

// message is the text of a line, which may be an object of JSON.
func message(line []byte) string {
	var m struct{ Text string }
	if err := json.Unmarshal(line, &m); err != nil {
		return string(line)
	}
	return m.Text
}
