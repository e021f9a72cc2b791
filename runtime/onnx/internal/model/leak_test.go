package model

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a test has left a goroutine, such as the thread of an engine that was not closed.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
