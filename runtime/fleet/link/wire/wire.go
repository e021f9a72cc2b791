// Package wire is what routers and worker pods agree on: the protocol, generated from fleet.proto, and what its
// messages mean in the vocabulary of speech.
package wire

//go:generate ../../../../hack/protoc.sh fleet.proto

// Protocol is what this version speaks. It grows when an older peer could not take part any more.
const Protocol = 1
