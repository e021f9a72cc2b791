package childenv

import (
	"slices"
	"testing"
)

func TestOnly(t *testing.T) {
	for name, value := range map[string]string{
		"SWAR_SMTP_PASSWORD": "secret", "SWAR_API_KEY": "secret", "HF_TOKEN": "secret", "PATHS": "secret",
		"PATH": "/bin", "LC_ALL": "C", "ESPEAK_DATA_PATH": "/data", "PULSE_SERVER": "unix:/run/pulse",
	} {
		t.Setenv(name, value)
	}
	for _, tt := range []struct {
		name  string
		named []string
		want  []string // of those set above
	}{
		{"nothing named", nil, []string{"LC_ALL=C", "PATH=/bin"}},
		{"a name", []string{"ESPEAK_DATA_PATH"}, []string{"ESPEAK_DATA_PATH=/data", "LC_ALL=C", "PATH=/bin"}},
		{"a pattern", []string{"PULSE_*"}, []string{"LC_ALL=C", "PATH=/bin", "PULSE_SERVER=unix:/run/pulse"}},
		{"a name that is not set", []string{"DISPLAYS"}, []string{"LC_ALL=C", "PATH=/bin"}},
	} {
		got := slices.DeleteFunc(Only(tt.named...), func(v string) bool {
			return !slices.Contains([]string{
				"SWAR_SMTP_PASSWORD=secret", "SWAR_API_KEY=secret", "HF_TOKEN=secret", "PATHS=secret",
				"PATH=/bin", "LC_ALL=C", "ESPEAK_DATA_PATH=/data", "PULSE_SERVER=unix:/run/pulse",
			}, v)
		})
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAnEmptyEnvironmentIsNotNil(t *testing.T) {
	for _, name := range common { // os/exec takes nil for the environment of this process
		t.Setenv(name, "")
	}
	if Only() == nil {
		t.Error("got nil")
	}
}
