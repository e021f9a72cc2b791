//go:build !noui

package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Built returns the pages that this program was built with, nil where it was built without them (tag noui).
func Built() fs.FS {
	pages, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return pages
}
