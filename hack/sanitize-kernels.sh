#!/usr/bin/env bash
# Runs the kernels of RowProduct with the address and the undefined behaviour sanitizer, on matrices that end where their memory ends. They are
# those of CC (gcc), and run by the command that is given, if any: CC=aarch64-linux-gnu-gcc hack/sanitize-kernels.sh hack/qemu-arm64.sh max
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cc=${CC:-gcc}
kernels=$root/runtime/internal/rowproduct
case $("$cc" -dumpmachine) in
x86_64-*) files=("$kernels"/*_amd64.c) ;;
aarch64-*) files=("$kernels"/*_arm64.c) ;;
*) files=() ;;
esac
# The library of sanitizers that older compilers bring does not stand memory that lies anywhere.
if [[ $# -eq 0 ]] && setarch -R true 2>/dev/null; then
	set -- setarch -R
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
"$cc" -O0 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all -o "$work/bounds" \
	"$kernels/testdata/bounds.c" "$kernels/kernels.c" "$kernels/plain.c" "${files[@]}" -lm
ASAN_OPTIONS=detect_leaks=0 "$@" "$work/bounds" # leaks cannot be found everywhere and are not what this is about
