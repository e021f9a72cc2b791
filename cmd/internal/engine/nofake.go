//go:build !fake

package engine

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/runtime/synth"
)

// fake is the engine that only programs have which are built for tests.
type fake struct{}

func fakes() []string { return nil }

func (*fake) define(*pflag.FlagSet) {}

func (*fake) open(int64) (synth.Engine, error) {
	return nil, errors.New("this program has no fake engine")
}
