package memstore

import (
	"testing"

	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/usage"
)

func TestUsageDump(t *testing.T) {
	storetest.UsageDump(t, func(*testing.T) usage.Store { return New() })
}
