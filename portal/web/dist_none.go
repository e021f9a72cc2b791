//go:build noui

package web

import "io/fs"

// Built returns the pages that this program was built with, nil where it was built without them (tag noui).
func Built() fs.FS { return nil }
