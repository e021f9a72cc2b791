#!/usr/bin/env bash
# Fetches the one file of ONNX Runtime that the neural engine loads, for this machine or for the architecture that is named (amd64,
# arm64), into .cache/onnxruntime, and prints its path. Does nothing when it is there.
#
# The package around it must have the pinned hash. A file under the final name is always whole, and a run that is broken off leaves
# nothing; npm keeps what it has fetched, so that running this again, or for the other architecture, begins where it can.
set -euo pipefail

version=1.30.0
sha512=b7086cd42d82fc1164cf5c9ce4e634288536194aba0d444eee10f86f1e50d90cb79c0309c115d6f31537355733136f5503d96894b3987a9a03f1f8d318e7c8ab

fail() { echo "onnxruntime: $*" >&2; exit 1; }

case $(uname -s)-${1:-$(uname -m)} in
Linux-x86_64 | Linux-amd64) arch=x64 ;;
Linux-aarch64 | Linux-arm64) arch=arm64 ;;
*) fail "no library is pinned for $(uname -s) on ${1:-$(uname -m)}, only for Linux on amd64 and arm64; build one and name it with SWAR_ONNXRUNTIME" ;;
esac

cd "$(dirname "$0")/.."
cache=$PWD/.cache/onnxruntime
library=$cache/libonnxruntime-$version-$arch.so
if [[ -s $library ]]; then
	echo "$library"
	exit
fi

for tool in npm tar sha512sum; do
	command -v "$tool" >/dev/null ||
		fail "$tool is missing; install it (Debian: apt-get install npm tar coreutils), or name a library of version $version with SWAR_ONNXRUNTIME"
done

mkdir -p "$cache"
find "$cache" -maxdepth 1 -name '.fetching.*' -mmin +60 -exec rm -rf {} + # of runs that were killed
work=$(mktemp -d "$cache/.fetching.XXXXXX") # beside the final place, so that moving there is one step
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

echo "onnxruntime: fetching version $version (113 MB), once" >&2
(cd "$work" && npm pack --loglevel error --ignore-scripts --prefer-offline "onnxruntime-node@$version" >/dev/null 2>npm.log) || {
	sed 's/^/  /' "$work/npm.log" >&2
	fail "npm could not fetch the package onnxruntime-node $version; check the network (npm ping) and the space on the disk, and run this again"
}
package=$work/onnxruntime-node-$version.tgz
[[ -s $package ]] || fail "npm fetched nothing; run this again"
echo "$sha512  $package" | sha512sum --check --status ||
	fail "what npm fetched does not have the pinned hash and was deleted; run npm cache verify and this again, and if that fails too, do not use that registry"

file=package/bin/napi-v6/linux/$arch/libonnxruntime.so.1
tar -xzf "$package" -C "$work" "$file" || fail "unpacking $file failed; look for space on the disk and run this again"
mv "$work/$file" "$library"
echo "$library"
