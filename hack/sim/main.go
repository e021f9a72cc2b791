// Command sim simulates a fleet of routers and worker pods in virtual time, with the decisions of the programs:
// packages route and queue. Slots, the network and clients are modelled. The same seed gives the same bytes.
//
//	go run ./hack/sim -quick        the figures that must hold, in half a minute, on standard output
//	go run ./hack/sim -docs docs    everything, into docs/capacity.md and its charts
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	quick := flag.Bool("quick", false, "only what must hold, in shorter runs")
	docs := flag.String("docs", "", "folder to write capacity.md and images to, in place of standard output")
	seed := flag.Uint64("seed", 1, "of clients and network")
	flag.Parse()
	if *quick && *docs != "" {
		fmt.Fprintln(os.Stderr, "sim: the quick form has only a part of capacity.md: leave out -quick or -docs")
		os.Exit(2)
	}
	begin := time.Now()
	s := newStudy(*quick, *seed)
	s.play()
	files := s.report()
	if *docs == "" {
		fmt.Print(files["capacity.md"])
	}
	if *docs == "" {
		files = nil
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(*docs, name), []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "sim:", err)
			os.Exit(1)
		}
	}
	took := time.Since(begin).Seconds()
	fmt.Fprintf(os.Stderr, "%d events in %.1f s: %.0f a second\n", s.events(), took, float64(s.events())/took)
}
