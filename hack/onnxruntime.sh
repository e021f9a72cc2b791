#!/usr/bin/env bash
# Downloads the one file of ONNX Runtime that the neural engines load, for this machine or for the architecture that is named
# (amd64, arm64), into .cache/onnxruntime, and prints its path. Does nothing when it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/fetch/fetch.sh

version=$(pinned onnxruntime)
instead="name a library of version $version with SWAR_ONNXRUNTIME"
machine=$(machine "${1:-}")
[[ $machine == x86_64 ]] && arch=x64 || arch=arm64
library=$PWD/.cache/onnxruntime/libonnxruntime-$version-$arch.so
if [[ ! -s $library ]]; then
	begin .cache/onnxruntime
	wheel onnxruntime "24 MB" "$machine"
	unpacked=$(unpack "onnxruntime/capi/libonnxruntime.so.$version")
	mv "$unpacked" "$library"
fi
echo "$library"
