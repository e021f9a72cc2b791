package portal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/portal/firestore"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/sqlite"
	"github.com/swar-tts/swar/portal/tenant"
	book "github.com/swar-tts/swar/portal/usage"
)

// DefaultData is the folder of --data.
const DefaultData = "./data"

// StoreFlags say where the portal keeps its records: a folder for what belongs to this machine, and a store.
type StoreFlags struct {
	Data    string // the folder
	Project string // of Firestore

	kind *string // sqlite or firestore
}

// Define defines all of them.
func (s *StoreFlags) Define(f *pflag.FlagSet) {
	DataFlag(f, &s.Data)
	s.kind = launch.Choice(f, "store", "where the portal keeps its records", "sqlite", "firestore")
	f.StringVar(&s.Project, "project", "", "Google Cloud `project` of the store firestore")
}

// DataFlag defines --data alone.
func DataFlag(f *pflag.FlagSet, folder *string) {
	f.StringVar(folder, "data", DefaultData, "the portal's `folder`: records, usage, and the socket of the commands")
}

// Check refuses settings that contradict one another.
func (s *StoreFlags) Check(cmd *cobra.Command) error {
	switch {
	case *s.kind == "firestore" && s.Project == "":
		return launch.BadUsage(cmd, "--store firestore needs --project, the Google Cloud project of the database")
	case *s.kind != "firestore" && s.Project != "":
		return launch.BadUsage(cmd, "--project is for --store firestore")
	}
	return nil
}

// Database is the file of the store sqlite.
func (s *StoreFlags) Database() string { return filepath.Join(s.Data, "swar.db") }

// Events is the folder of the usage that is not in the store yet.
func (s *StoreFlags) Events() string { return filepath.Join(s.Data, "usage") }

// Refused is the file of the usage that was refused.
func (s *StoreFlags) Refused() string { return filepath.Join(s.Data, "refused-usage.jsonl") }

// MakeFolder makes the folder, for its owner alone.
func (s *StoreFlags) MakeFolder() error {
	err := os.MkdirAll(s.Data, 0o700)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot make the folder %s (%w); choose another one with --data", s.Data, e.Err)
	}
	return err
}

// Records is what a store of the portal keeps.
type Records interface {
	tenant.Store
	book.Store
	signin.Store
}

// open opens the store as the server.
func (s *StoreFlags) open(ctx context.Context, log *slog.Logger) (Records, error) {
	if *s.kind == "firestore" {
		log.Info("asking Firestore for every sort of query", "project", s.Project) // which may take a while to fail
		return OpenFirestore(ctx, s.Project, log)
	}
	file, err := sqlite.Open(ctx, sqlite.Config{Path: s.Database(), Server: true})
	if errors.Is(err, sqlite.ErrServed) {
		err = fmt.Errorf("%w, or give this one another folder", err)
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// OpenFile opens the file of the store sqlite, which must be there. alone keeps servers away from it.
func (s *StoreFlags) OpenFile(ctx context.Context, alone bool) (*sqlite.Store, error) {
	_, err := os.Stat(s.Database())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s does not exist; name the server's folder with --data", s.Database())
	}
	return sqlite.Open(ctx, sqlite.Config{Path: s.Database(), Server: alone})
}

// OpenFirestore opens the database of a project, and fails unless it can be used.
func OpenFirestore(ctx context.Context, project string, log *slog.Logger) (*firestore.Store, error) {
	store, err := firestore.New(ctx,
		firestore.Config{Project: project, Emulator: os.Getenv("FIRESTORE_EMULATOR_HOST"), Log: log})
	if err != nil {
		return nil, err
	}
	if err := store.Check(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}
