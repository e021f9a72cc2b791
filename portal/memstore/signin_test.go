package memstore

import (
	"testing"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/storetest"
)

func TestSignin(t *testing.T) {
	storetest.Signin(t, func(*testing.T) signin.Store { return New() })
}
