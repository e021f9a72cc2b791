// Package childenv chooses the environment of programs that Swar starts, so that none of them sees its keys and
// passwords.
package childenv

import (
	"os"
	"strings"
)

// common are the variables that programs need to be found, to load their libraries and to speak a language.
var common = []string{"PATH", "HOME", "USER", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_*",
	"SystemRoot"}

// Only returns the environment for a child process. It has a few variables that every program needs, and the named
// ones. A name that ends in * stands for all that begin like it. The result is never nil.
func Only(names ...string) []string {
	env := []string{}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if matches(name, common) || matches(name, names) {
			env = append(env, variable)
		}
	}
	return env
}

func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		prefix, isPrefix := strings.CutSuffix(p, "*")
		if name == p || isPrefix && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
