#!/usr/bin/env bash
# Runs a program as if this were an older processor: hack/cpumask.sh avx2|avx512 PROGRAM [ARG ...]. Its exit code is 2, with one sentence, where
# this machine cannot hide instructions. For tests: go test -exec "$PWD/hack/cpumask.sh avx2" ./runtime/onnx/...
set -euo pipefail

[[ $# -ge 2 ]] || { echo "usage: $0 avx2|avx512 PROGRAM [ARG ...]" >&2; exit 2; }
[[ $(uname -sm) == "Linux x86_64" ]] || { echo "cpumask: only Linux on x86-64 can hide instructions" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
library=$here/../.cache/cpumask.so
if [[ ! $library -nt $here/cpumask/cpumask.c ]]; then
	mkdir -p "$here/../.cache"
	made=$(mktemp "$library.XXXXXX")
	"${CC:-gcc}" -O2 -Wall -Wextra -shared -fPIC -o "$made" "$here/cpumask/cpumask.c"
	mv "$made" "$library"
fi
level=$1
shift
CPUMASK=$level LD_PRELOAD=$library exec "$@"
