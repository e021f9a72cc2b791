// Package wire is the protocol of KEDA's external scalers, generated from externalscaler.proto. The proto file is
// rewritten, because KEDA's module would add thousands of packages.
package wire

//go:generate ../../../hack/protoc.sh externalscaler.proto
