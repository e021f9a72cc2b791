#!/usr/bin/env bash
# Generates Go from protocol files in the folder it is called in. The generators come from go.mod; protoc is the system's, and which one
# it was is not written down, because any of the last years gives the same code.
set -euo pipefail

command -v protoc >/dev/null || { echo "protoc is missing, so that generated code cannot be checked: install protobuf-compiler" >&2; exit 1; }
root=$(go list -m -f '{{.Dir}}')
folder=${PWD#"$root"/}
cd "$root" # a protocol is known by its path, which must be the only one of that name in a program
protoc --plugin="protoc-gen-go=$(go tool -n protoc-gen-go)" --go_out=. --go_opt=paths=source_relative \
	--plugin="protoc-gen-go-grpc=$(go tool -n protoc-gen-go-grpc)" --go-grpc_out=. --go-grpc_opt=paths=source_relative "${@/#/$folder/}"
sed -i '/^\/\/ .*protoc  *v[0-9]/d' "$folder"/*.pb.go
gofmt -w "$folder"/*.pb.go
