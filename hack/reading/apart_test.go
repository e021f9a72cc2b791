package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// silence reads nothing, so that every message fails.
var silence = normaliser{"silence", func(_ context.Context, messages []message, _ func(int)) ([]string, error) {
	return make([]string, len(messages)), nil
}}

// perfect reads every message as its own example.
var perfect = normaliser{"perfect", func(_ context.Context, messages []message, _ func(int)) ([]string, error) {
	var out []string
	for _, m := range messages {
		out = append(out, m.reading.Example())
	}
	return out, nil
}}

func TestListsApartAreTotalledApart(t *testing.T) {
	o := options{data: "../../testdata/hinglish-reading", heldOut: true, failures: true, timeout: time.Minute}
	var out bytes.Buffer
	measured, err := o.measureApart(context.Background(), []normaliser{silence, perfect}, &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := "| | held out | second held out | third held out | development | second development | third development | fourth development | " +
		"fifth development | sixth development | seventh development | eighth development | ninth development | SMS held out | SMS | " +
		"second SMS | third SMS | fourth SMS | fifth SMS | talk held out | talk |\n|---" +
		strings.Repeat("|---:", 20) + "|\n| silence" + strings.Repeat(" | 0.0 %", 20) +
		" |\n| perfect" + strings.Repeat(" | 100.0 %", 20) + " |\n"
	if got := apartTable(measured); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, total := range []string{"silence, held out: 0.0 % (0 of 200", "silence, second held out: 0.0 % (0 of 200",
		"perfect, development: 100.0 % (200 of 200"} {
		if !strings.Contains(out.String(), total) {
			t.Errorf("%q is not printed", total)
		}
	}
	for _, path := range []string{folder + "held-out.jsonl", folder + "held-out-2.jsonl", folder + "held-out-3.jsonl",
		folder + "held-out-sms.jsonl", folder + "held-out-talk.jsonl"} {
		for _, m := range loaded(t, path) {
			if strings.Contains(out.String(), m.Text) || strings.Contains(out.String(), m.Reading) ||
				strings.Contains(out.String(), m.ID+"  ") {
				t.Errorf("%s is shown with -failures", m.ID)
			}
		}
	}
	if shown := loaded(t, development)[0]; !strings.Contains(out.String(), shown.Text) {
		t.Errorf("%s is not shown with -failures", shown.ID)
	}
}

func TestHeldOutIsMeasuredOnlyWhenAsked(t *testing.T) {
	o := options{data: "../../testdata/hinglish-reading", timeout: time.Minute}
	measured, err := o.measureApart(context.Background(), []normaliser{perfect}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(measured) != 15 || measured[0].heldOut || measured[1].heldOut || measured[0].name != "development" {
		t.Errorf("%d lists are measured without -held-out, want the fifteen for development alone", len(measured))
	}
}

func TestOneFileOfMessagesIsMeasuredAlone(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-messages", development, "-command", "cat"}, &out,
		io.Discard); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, " of 200, ") != 1 || strings.Contains(got, "of 800") {
		t.Errorf("more than the 200 messages of the file is measured:\n%s", got)
	}
	for _, flags := range [][]string{{"-held-out"}, {"-docs", "docs.md"}} {
		err := run(context.Background(), append(flags, "-messages", development), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(),
			"-messages measures one file alone: leave -held-out and -docs out") {
			t.Errorf("%v with %s", err, flags[0])
		}
	}
}
