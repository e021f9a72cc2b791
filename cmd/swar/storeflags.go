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

// storeFlags say where the portal keeps its records: a folder for what belongs to this machine, and a store.
type storeFlags struct {
	kind    *string // sqlite or firestore
	project string
	data    string
}

func (s *storeFlags) flags(f *pflag.FlagSet) {
	dataFlag(f, &s.data)
	s.kind = launch.Choice(f, "store", "where the portal keeps its records", "sqlite", "firestore")
	f.StringVar(&s.project, "project", "", "Google Cloud `project` of the store firestore")
}

func dataFlag(f *pflag.FlagSet, folder *string) {
	f.StringVar(folder, "data", defaultData, "the portal's `folder`: records, usage, and the socket of the commands")
}

// check refuses settings that contradict one another.
func (s *storeFlags) check(cmd *cobra.Command) error {
	switch {
	case *s.kind == "firestore" && s.project == "":
		return launch.BadUsage(cmd, "--store firestore needs --project, the Google Cloud project of the database")
	case *s.kind != "firestore" && s.project != "":
		return launch.BadUsage(cmd, "--project is for --store firestore")
	}
	return nil
}

func (s *storeFlags) database() string { return filepath.Join(s.data, "swar.db") }
func (s *storeFlags) events() string   { return filepath.Join(s.data, "usage") }
func (s *storeFlags) socket() string   { return filepath.Join(s.data, "admin.sock") }

// make makes the folder, for its owner alone.
func (s *storeFlags) make() error {
	err := os.MkdirAll(s.data, 0o700)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot make the folder %s (%w); choose another one with --data", s.data, e.Err)
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
func (s *storeFlags) open(ctx context.Context, log *slog.Logger) (records, error) {
	if *s.kind == "firestore" {
		log.Info("asking Firestore for every sort of query", "project", s.project) // which may take a while to fail
		return openFirestore(ctx, s.project, log)
	}
	return sqlite.Open(ctx, sqlite.Config{Path: s.database(), Server: true})
}

// openFirestore opens the database of a project, and fails unless it can be used.
func openFirestore(ctx context.Context, project string, log *slog.Logger) (*firestore.Store, error) {
	store, err := firestore.New(ctx, firestore.Config{Project: project, Emulator: os.Getenv("FIRESTORE_EMULATOR_HOST"), Log: log})
	if err != nil {
		return nil, err
	}
	if err := store.Check(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}
