// Package wire is the protocol of routers and worker pods. It is generated from fleet.proto, with conversions to the
// vocabulary of speech.
package wire

//go:generate ../../../../hack/protoc.sh fleet.proto

// Protocol is what this version speaks. It grows when an older peer could not take part any more.
const Protocol = 1
