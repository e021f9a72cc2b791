#!/usr/bin/env bash
# Runs a program as if this were an older processor: hack/cpumask.sh avx2|avx512 PROGRAM [ARG ...]. It hides newer instructions from the
# program and its libraries, not from its children. Where Linux cannot make CPUID fault (AMD), it patches CPUID in memory, which needs
# objdump, and names each file. CPUMASK_WAY=fault or patch allows one way only. Exit code 2: this machine cannot hide instructions.
# For tests: go test -exec "$PWD/hack/cpumask.sh avx2" ./runtime/onnx/...
set -euo pipefail

fail() { echo "cpumask: $*" >&2; exit 2; }

[[ $# -ge 2 ]] || { echo "usage: $0 avx2|avx512 PROGRAM [ARG ...]" >&2; exit 2; }
[[ $(uname -sm) == "Linux x86_64" ]] || fail "only Linux on x86-64 can hide instructions"
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
program=$(type -P "$1") || fail "$1 is not a program"
if [[ $(head -c 4 "$program" | tail -c 3) == ELF ]] && command -v readelf >/dev/null && ! readelf -lW "$program" | grep -q INTERP; then
	fail "$1 is linked statically: nothing can be preloaded into it"
fi

fault=(env -u CPUMASK_SITES "CPUMASK=$level" "LD_PRELOAD=$library")
patch=("${fault[@]}" "LD_AUDIT=$library" "CPUMASK_SITES=$here/cpumask/sites.sh")
way=${CPUMASK_WAY:-any} why=
case $way in
any | fault | patch) ;;
*) fail "CPUMASK_WAY is $way, want fault or patch" ;;
esac
if [[ $way != patch ]]; then
	why=$("${fault[@]}" true 2>&1) && exec "${fault[@]}" "$@"
fi
[[ $way != fault ]] || fail "${why#cpumask: }"
command -v objdump >/dev/null || fail "${why#cpumask: }${why:+, and }objdump (binutils), which finds CPUID instructions, is missing"
audit=$("${patch[@]}" true 2>&1) || fail "${why#cpumask: }${why:+, and }CPUID cannot be patched in memory: ${audit#cpumask: }"
echo "cpumask: $level: ${why#cpumask: }${why:+; }CPUID is patched in memory" >&2
exec "${patch[@]}" "$@"
