// Package wire is the protocol of KEDA's external scalers, generated from externalscaler.proto. It is written anew,
// because KEDA's module would bring along what thousands of other packages want.
package wire

//go:generate ../../../hack/protoc.sh externalscaler.proto
