package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/portal/firestore"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/sqlite"
	"github.com/swar-tts/swar/portal/tenant"
	book "github.com/swar-tts/swar/portal/usage"
)

const defaultData = "./data"

// place is where the portal keeps its records: a folder for what belongs to this machine, and a store.
type place struct {
	store   *string
	project string
	data    string
}

func (p *place) flags(f *pflag.FlagSet) {
	dataFlag(f, &p.data)
	p.store = launch.Choice(f, "store", "where the portal keeps its records", "sqlite", "firestore")
	f.StringVar(&p.project, "project", "", "Google Cloud `project` of the store firestore")
}

func dataFlag(f *pflag.FlagSet, folder *string) {
	f.StringVar(folder, "data", defaultData, "the portal's `folder`: records, usage, and the socket of the commands")
}

// check refuses settings that contradict one another.
func (p *place) check(cmd *cobra.Command) error {
	switch {
	case *p.store == "firestore" && p.project == "":
		return usage(cmd, "--store firestore needs --project, the Google Cloud project of the database")
	case *p.store != "firestore" && p.project != "":
		return usage(cmd, "--project is for --store firestore")
	}
	return nil
}

func (p *place) database() string { return filepath.Join(p.data, "swar.db") }
func (p *place) events() string   { return filepath.Join(p.data, "usage") }
func (p *place) socket() string   { return filepath.Join(p.data, "admin.sock") }

// make makes the folder, for its owner alone.
func (p *place) make() error {
	err := os.MkdirAll(p.data, 0o700)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot make the folder %s (%w); choose another one with --data", p.data, e.Err)
	}
	return err
}

// records is what a store of the portal keeps.
type records interface {
	tenant.Store
	book.Store
	signin.Store
}

// open opens the store as the server.
func (p *place) open(ctx context.Context, log *slog.Logger) (records, error) {
	if *p.store == "firestore" {
		log.Info("asking Firestore for every sort of query", "project", p.project) // which may take a while to fail
		return openFirestore(ctx, p.project, log)
	}
	return sqlite.Open(ctx, sqlite.Config{Path: p.database(), Server: true})
}

// openFirestore opens the database of a project, and fails unless it can be used.
func openFirestore(ctx context.Context, project string, log *slog.Logger) (*firestore.Store, error) {
	s, err := firestore.New(ctx, firestore.Config{Project: project, Emulator: os.Getenv("FIRESTORE_EMULATOR_HOST"), Log: log})
	if err != nil {
		return nil, err
	}
	if err := s.Check(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
