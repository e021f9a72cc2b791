// Package wire is the protocol of the dataplane, generated from dataplane.proto.
package wire

//go:generate ../../../../hack/protoc.sh dataplane.proto
