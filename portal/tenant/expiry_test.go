package tenant_test

import (
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

func TestKeysExpire(t *testing.T) {
	now := time.Now()
	const future = tenant.PlaygroundLife + time.Minute
	for name, tt := range map[string]struct {
		kind tenant.KeyKind
		left time.Duration
		want bool
	}{
		"before its end":                   {tenant.Playground, 1, false},
		"at its end":                       {tenant.Playground, 0, true},
		"made now":                         {tenant.Playground, tenant.PlaygroundLife, false},
		"made by a clock that is fast":     {tenant.Playground, future, false},
		"made in the future":               {tenant.Playground, future + 1, true},
		"another kind may live for a year": {tenant.Live, 365 * 24 * time.Hour, false},
		"another kind ends, too":           {tenant.Live, 0, true},
	} {
		if got := (tenant.Key{Kind: tt.kind, ExpiresAt: now.Add(tt.left)}).Expired(now); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if (tenant.Key{Kind: tenant.Live}).Expired(now) {
		t.Error("a key without an end has expired")
	}
}
