// Package firestoretest lets the tests of a package run beside Google's emulator of Firestore.
package firestoretest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Emulator returns the address of the emulator that FIRESTORE_EMULATOR_HOST names. Where none is named it lets
// hack/firestore-emulator.sh run the program of the test again beside one, and ends with it. Where that cannot find an
// emulator either it says so, naming what is not tested, and returns nothing.
//
// It is for TestMain, in a package two folders below the root.
func Emulator(what string) (address string) {
	const variable, script = "FIRESTORE_EMULATOR_HOST", "../../hack/firestore-emulator.sh"
	if address = os.Getenv(variable); address != "" {
		_ = os.Unsetenv(variable) // else Firestore's client opens a connection of its own besides, which nobody closes
		return address
	}
	if out, err := exec.CommandContext(context.Background(), script).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "\n*** %s: %s ***\n\n", what, strings.TrimSpace(string(out)))
		return ""
	}
	again := exec.CommandContext(context.Background(), script, os.Args...)
	again.Stdout, again.Stderr = os.Stdout, os.Stderr
	err := again.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(failed.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
	return ""
}
