package dataplane

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(frontEndEnv); addr != "" {
		serveSpeech(addr)
		return
	}
	goleak.VerifyTestMain(m)
}
