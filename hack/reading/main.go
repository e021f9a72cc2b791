// Command reading measures how well a normaliser reads everyday Indian messages: ours, that of another program, or that
// of a service.
//
// The messages and what is accepted for them are testdata/hinglish-reading. A program is given one message a line and
// answers with one line each; a service is asked once a message. Rates are printed by class, difficulty, script and
// language. The lists that are measured apart follow: those for development, and, of those that are held out, rate and
// classes only, so that nobody writes rules for them.
//
// With -tests it takes the test files of NeMo text processing instead, and tells where conventions differ from where a
// reading is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "reading:", err)
		os.Exit(1)
	}
}

type options struct {
	data, messages, command, url, field, header, docs, peers, tests string
	heldOut, failures                                               bool
	timeout                                                         time.Duration
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("reading", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.data, "data", "testdata/hinglish-reading", "folder of the messages")
	f.StringVar(&o.messages, "messages", "", "one file of messages of that format to measure instead of the folder, such as your own")
	f.StringVar(&o.command, "command", "", "a shell command that reads one message a line and writes its reading as one line")
	f.StringVar(&o.url, "url", "", "a service that takes {\"text\": …} by POST")
	f.StringVar(&o.field, "field", "normalized",
		"with -url: the field of its JSON answer that holds the reading; empty means that the answer is the reading")
	f.StringVar(&o.header, "header", "", "with -url: a header to send, as 'x-api-key: KEY'")
	f.StringVar(&o.peers, "peers", "", "the normalisers of others to measure beside ours: the folder hack/reading/peers, or one file of it")
	f.StringVar(&o.tests, "tests", "", "folder of test_cases_*.txt of NeMo text processing to measure instead of the messages")
	f.StringVar(&o.docs, "docs", "", "file to write the tables into, between its markers; without -peers only that of the genres")
	f.BoolVar(&o.heldOut, "held-out", false, "measure the lists of messages that are held out, too: rate and classes only")
	f.BoolVar(&o.failures, "failures", false,
		"list what is not accepted, with the word at which it leaves every reading; never of what is held out")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "longest time for all messages of one normaliser")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%q is not a flag: put a command into -command", f.Arg(0))
	case o.command != "" && o.url != "":
		return o, errors.New("-command and -url are two normalisers: measure one after the other")
	case o.docs != "" && (o.command != "" || o.url != ""):
		return o, errors.New("-docs holds ours and its peers: leave -command and -url out")
	case o.tests != "" && (o.heldOut || o.messages != ""):
		return o, errors.New("-tests measures no messages: leave -held-out and -messages out")
	case o.messages != "" && (o.heldOut || o.docs != ""):
		return o, errors.New("-messages measures one file alone: leave -held-out and -docs out")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	named, err := o.normalisers(ctx, progress)
	if err != nil {
		return err
	}
	if o.tests != "" {
		return o.runTests(ctx, named, out, progress)
	}
	return o.runMessages(ctx, named, out, progress)
}

func (o options) runMessages(ctx context.Context, named []normaliser, out, progress io.Writer) error {
	path := o.messages
	if path == "" {
		path = filepath.Join(o.data, "messages.jsonl")
	}
	messages, err := load(path)
	if err != nil {
		return err
	}
	var results []result
	for _, n := range named {
		r, err := measure(ctx, n, messages, o.timeout, progress)
		if err != nil {
			return err
		}
		results = append(results, r)
		r.print(out)
		if o.failures {
			r.printFailures(out)
		}
	}
	if o.messages != "" {
		return nil
	}
	measured, err := o.measureApart(ctx, named, out, progress)
	if err != nil {
		return err
	}
	rates := ratesOfGenres(measured)
	if o.command == "" && o.url == "" {
		own, err := o.measureOwn(ctx, out, progress)
		if err != nil {
			return err
		}
		rates = append(rates, own...)
		printGenres(out, rates)
	}
	if o.heldOut && o.peers != "" {
		_, _ = fmt.Fprint(out, "\n", apartTable(measured))
	}
	if o.docs == "" {
		return nil
	}
	blocks := map[string]string{}
	if o.peers != "" { // else they would vanish from the tables
		blocks["results"] = table(results)
	}
	if o.heldOut {
		blocks["genres"] = genreTable(rates)
	}
	return writeDocs(o.docs, blocks)
}

func (o options) runTests(ctx context.Context, named []normaliser, out, progress io.Writer) error {
	pairs, err := loadPairs(o.tests)
	if err != nil {
		return err
	}
	var results []otherResult
	for _, n := range named {
		r, err := measureOthers(ctx, n, pairs, o, progress)
		if err != nil {
			return err
		}
		results = append(results, r)
		r.print(out, o.failures)
	}
	if o.failures {
		_, _ = fmt.Fprint(out, conventionsTable(pairs))
	}
	if o.docs == "" {
		return nil
	}
	return writeDocs(o.docs, map[string]string{"tests of others": othersTable(results)})
}

// A list of messages whose rate is told apart from that of the public ones.
type list struct {
	name, file string
	heldOut    bool // nothing of its messages is shown
	sms        bool // of banks, cards and telephone firms
	talk       bool // what lines of calls and bots say, and chats
}

// everyday reports whether l has everyday messages of all kinds.
func (l list) everyday() bool { return !l.sms && !l.talk }

var apart = []list{
	{name: "held out", file: "held-out.jsonl", heldOut: true},
	{name: "second held out", file: "held-out-2.jsonl", heldOut: true},
	{name: "third held out", file: "held-out-3.jsonl", heldOut: true},
	{name: "development", file: "development.jsonl"},
	{name: "second development", file: "development-2.jsonl"},
	{name: "third development", file: "development-3.jsonl"},
	{name: "fourth development", file: "development-4.jsonl"},
	{name: "fifth development", file: "development-5.jsonl"},
	{name: "sixth development", file: "development-6.jsonl"},
	{name: "seventh development", file: "development-7.jsonl"},
	{name: "eighth development", file: "development-8.jsonl"},
	{name: "ninth development", file: "development-9.jsonl"},
	{name: "SMS held out", file: "held-out-sms.jsonl", heldOut: true, sms: true},
	{name: "SMS", file: "sms.jsonl", sms: true},
	{name: "second SMS", file: "sms-2.jsonl", sms: true},
	{name: "third SMS", file: "sms-3.jsonl", sms: true},
	{name: "fourth SMS", file: "sms-4.jsonl", sms: true},
	{name: "fifth SMS", file: "sms-5.jsonl", sms: true},
	{name: "talk held out", file: "held-out-talk.jsonl", heldOut: true, talk: true},
	{name: "talk", file: "talk.jsonl", talk: true},
}

// A listResult is what every normaliser made of one list.
type listResult struct {
	list
	results []result
}

// measureApart prints rates and classes, and of what is held out nothing else.
func (o options) measureApart(ctx context.Context, named []normaliser, out, progress io.Writer) ([]listResult, error) {
	var measured []listResult
	for _, l := range apart {
		if l.heldOut && !o.heldOut {
			continue
		}
		messages, err := load(filepath.Join(o.data, l.file))
		if err != nil {
			return nil, err
		}
		of := listResult{list: l}
		for _, n := range named {
			n.name += ", " + l.name
			r, err := measure(ctx, n, messages, o.timeout, progress)
			if err != nil {
				return nil, err
			}
			r.printClasses(out)
			if o.failures && !l.heldOut {
				r.printFailures(out)
			}
			of.results = append(of.results, r)
		}
		measured = append(measured, of)
	}
	return measured, nil
}

// normalisers are what is measured: the one that was asked for, or ours and its peers.
func (o options) normalisers(ctx context.Context, progress io.Writer) ([]normaliser, error) {
	switch {
	case o.command != "":
		return []normaliser{{o.command, command(o.command)}}, nil
	case o.url != "":
		read, err := service(o.url, o.field, o.header)
		return []normaliser{{o.url, read}}, err
	}
	named := []normaliser{{"Swar", swar}}
	if o.peers == "" {
		return named, nil
	}
	peers, err := findPeers(ctx, o.peers, progress)
	return append(named, peers...), err
}
