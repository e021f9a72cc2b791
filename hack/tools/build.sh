#!/usr/bin/env bash
# Builds a program of others into .cache/bin, once for each version: hack/tools/build.sh helm|kustomize|promtool. Each has
# a module of its own beside this file, so that its dependencies never meet the project's.
set -euo pipefail
name=${1:-}
cd "$(dirname "$0")"
bin=$(cd ../.. && pwd)/.cache/bin
flags=(-trimpath)
ldflags='-s -w'
case $name in
helm) ldflags+=" -X helm.sh/helm/v4/internal/version.version=$(awk '$1 == "helm.sh/helm/v4" {print $2}' helm/go.mod)" took=4 ;;
kustomize) took=1 ;;
promtool)
	# Without service discovery, for which it has a module of every cloud. One of them cannot be had from the module
	# proxy, so run go get with this tag too, and not go mod tidy.
	flags+=(-tags remove_all_sd)
	took=4
	;;
*) echo "usage: build.sh helm|kustomize|promtool" >&2; exit 2 ;;
esac

file=$name-$(cat build.sh "$name"/go.* | sha256sum | cut -c1-12)
if [[ ! -x $bin/$file ]]; then
	echo "building $name, once; from nothing this takes about $took minutes of processor time" >&2
	mkdir -p "$bin"
	cd "$name"
	GOWORK=off CGO_ENABLED=0 GOFLAGS='-mod=readonly -buildvcs=false' go build "${flags[@]}" -ldflags "$ldflags" -o "$bin/$file.new" tool
	mv "$bin/$file.new" "$bin/$file"
fi
ln -sfn "$file" "$bin/$name"
