#!/usr/bin/env bash
# Fetches the one file of ONNX Runtime that the neural engine loads, checked against a pinned hash, into .cache/onnxruntime.
# Prints its path. Does nothing when it is there already.
set -euo pipefail

version=1.30.0
sha512=b7086cd42d82fc1164cf5c9ce4e634288536194aba0d444eee10f86f1e50d90cb79c0309c115d6f31537355733136f5503d96894b3987a9a03f1f8d318e7c8ab

case $(uname -s)-$(uname -m) in
Linux-x86_64) arch=x64 ;;
Linux-aarch64 | Linux-arm64) arch=arm64 ;;
*) echo "no ONNX Runtime pinned for $(uname -s) on $(uname -m)" >&2; exit 1 ;;
esac

cd "$(dirname "$0")/.."
mkdir -p .cache/onnxruntime
library=$PWD/.cache/onnxruntime/libonnxruntime-$version-$arch.so
if [[ ! -s $library ]]; then
	command -v npm >/dev/null || { echo "npm is missing: it fetches the package onnxruntime-node, which holds the library" >&2; exit 1; }
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	(cd "$tmp" && npm pack --silent "onnxruntime-node@$version" >/dev/null)
	package=$tmp/onnxruntime-node-$version.tgz
	echo "$sha512  $package" | sha512sum --check --quiet
	file=package/bin/napi-v6/linux/$arch/libonnxruntime.so.1
	tar -xzf "$package" -C "$tmp" "$file"
	mv "$tmp/$file" "$library.part"
	mv "$library.part" "$library" # so that a file under this name is always whole
fi
echo "$library"
