package firestore

import (
	"strings"
	"testing"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
)

// parallel lets the tests of a suite run side by side, each in a database of its own. Those that look for goroutines
// left behind run alone.
func parallel(t *testing.T) {
	for _, alone := range []string{"many_watchers", "watching_ends"} {
		if strings.Contains(t.Name(), alone) {
			return
		}
	}
	t.Parallel()
}

func TestTenant(t *testing.T) {
	needEmulator(t)
	storetest.Tenant(t, func(t *testing.T) tenant.Store {
		parallel(t)
		return open(t)
	})
}

func TestTenantShared(t *testing.T) {
	needEmulator(t)
	storetest.TenantShared(t, func(t *testing.T) (tenant.Store, tenant.Store) {
		parallel(t)
		project := newProject()
		return openProject(t, project, nil), openProject(t, project, nil)
	})
}

func TestUsage(t *testing.T) {
	needEmulator(t)
	storetest.Usage(t, func(t *testing.T) usage.Store {
		parallel(t)
		return open(t)
	})
}

func TestUsageDump(t *testing.T) {
	needEmulator(t)
	storetest.UsageDump(t, func(t *testing.T) usage.Store {
		parallel(t)
		return open(t)
	})
}

func TestSignin(t *testing.T) {
	needEmulator(t)
	storetest.Signin(t, func(t *testing.T) signin.Store {
		parallel(t)
		return open(t)
	})
}

func TestSigninShared(t *testing.T) {
	needEmulator(t)
	storetest.SigninShared(t, func(t *testing.T) (signin.Store, signin.Store) {
		parallel(t)
		project := newProject()
		return openProject(t, project, nil), openProject(t, project, nil)
	})
}
