package memstore

import (
	"testing"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/storetest"
)

func TestSignin(t *testing.T) {
	storetest.Signin(t, func(*testing.T) signin.Store { return New() })
}

// TestSigninShared has one store for both: what is in memory is in one process.
func TestSigninShared(t *testing.T) {
	storetest.SigninShared(t, func(*testing.T) (a, b signin.Store) {
		s := New()
		return s, s
	})
}
