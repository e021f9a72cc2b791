// Command smoke is the container of the test cluster's own test: it says where it runs, and shows what a pod sees.
//
//	smoke serve       answer on :8080 with the pod's name and $ZONE
//	smoke get URL     print what URL answers, and fail unless it is a 200
//	smoke cat FILE    print a file
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "serve":
		return serve()
	case len(args) == 2 && args[0] == "get":
		return get(args[1])
	case len(args) == 2 && args[0] == "cat":
		text, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(text)
		return err
	}
	return fmt.Errorf("usage: smoke serve | get URL | cat FILE, not %q", args)
}

func serve() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	zone := os.Getenv("ZONE")
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := fmt.Fprintln(w, host, zone); err != nil {
			log.Print(err)
		}
	})
	s := &http.Server{Addr: ":8080", ReadHeaderTimeout: 5 * time.Second}
	return s.ListenAndServe()
}

func get(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}
