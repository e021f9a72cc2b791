// Package layout loads models in the folders in which they are published for ONNX Runtime, as they are: the KevinAHM export with and
// without a description, and sherpa-onnx. Folders of the other known families are refused by name.
//
// All three hold the same five graphs. Their states have one size for the longest sequence there can be and go in and out of every
// run, so that they are slower than a bundle of our own, see package bundle; nothing but speed differs.
package layout

import "errors"

// Kind is one of the layouts that this package reads.
type Kind int

// The layouts.
const (
	None      Kind = iota // none of them
	Described             // KevinAHM v2: one folder for a language, with bundle.json
	Flat                  // KevinAHM, first form: the folder onnx with the tokenizer beside it, no description
	Sherpa                // sherpa-onnx
)

func (k Kind) String() string {
	return [...]string{"none", "KevinAHM", "flat KevinAHM", "sherpa-onnx"}[k]
}

// Find recognises the layout of a folder by its files. It returns None without an error for a folder that is none of them, such as a
// bundle of our own. A folder of a family that cannot run as it is, is an error that names the family and says how to convert it.
func Find(dir string) (Kind, error) { return None, errors.ErrUnsupported }
