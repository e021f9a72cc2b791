package memstore

import (
	"testing"

	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/usage"
)

func TestUsage(t *testing.T) {
	storetest.Usage(t, func(*testing.T) usage.Store { return &usageTables{} })
}
